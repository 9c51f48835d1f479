"""Rating campaigns: what is asked, of whom, who holds what, and every word that was answered."""

from annotations.campaigns.models.adjudication import Adjudication, AdjudicationRule
from annotations.campaigns.models.allocation import Look
from annotations.campaigns.models.arena import Arena, Battle, Visitor
from annotations.campaigns.models.assignment import Assignment, Item, RatingRevision, Slot
from annotations.campaigns.models.campaign import Campaign, Guidelines
from annotations.campaigns.models.collection import CollectedCorpus, Line, Room
from annotations.campaigns.models.conversation import ChatSystem, Conversation, Message
from annotations.campaigns.models.form import FormVersion
from annotations.campaigns.models.people import Conflict, Invitation, Participation

__all__ = [
    "Adjudication",
    "AdjudicationRule",
    "Arena",
    "Assignment",
    "Battle",
    "Campaign",
    "ChatSystem",
    "CollectedCorpus",
    "Conflict",
    "Conversation",
    "FormVersion",
    "Guidelines",
    "Invitation",
    "Item",
    "Line",
    "Look",
    "Message",
    "Participation",
    "RatingRevision",
    "Room",
    "Slot",
    "Visitor",
]
