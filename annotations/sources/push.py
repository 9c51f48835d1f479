"""A folder as a dataset on the Hugging Face Hub. Pure."""

from __future__ import annotations

from pathlib import Path

from annotations.sources.remote import NotFetched, hub_address


class NotPushed(Exception):
    """The message says why; what of it is on the Hub, it says too."""


def push(
    folder: Path,
    address: str,
    *,
    endpoint: str,
    token: str,
    public: bool = False,
    replace: bool = False,
) -> str:
    """Upload a folder as one commit.

    Args:
        folder: of the dataset, with its card.
        address: ``hf://datasets/OWNER/NAME``.
        endpoint: of the Hub.
        token: that may write there.
        public: let everybody read a dataset that is made.
        replace: add a commit to a dataset that is there; its other files in ``data/`` go.

    Returns:
        The address with the commit.

    Raises:
        NotPushed: the address, the token or the Hub does not allow it.
    """
    # Here, because it takes a second and few commands need it
    import httpx2
    from huggingface_hub import HfApi
    from huggingface_hub.errors import HfHubHTTPError
    from huggingface_hub.utils.tqdm import disable_progress_bars

    try:
        found = hub_address(address, endpoint)
    except NotFetched as refusal:
        raise NotPushed(str(refusal)) from None
    if found is None or found.path or found.revision != "main":
        raise NotPushed(f"{address[:200]} names no dataset: hf://datasets/OWNER/NAME")
    if not token:
        raise NotPushed("set HF_TOKEN to a token that may write there")
    disable_progress_bars()
    hub = HfApi(endpoint=endpoint, token=token, library_name="dialeval")
    name, is_made = found.repository, False
    try:
        hub.create_repo(name, repo_type="dataset", private=not public)
        is_made = True
    except HfHubHTTPError as problem:
        if problem.response is None or problem.response.status_code != 409:
            raise NotPushed(f"{name} was not made: {_reason(problem)}") from None
        if not replace:
            message = f"{name} is on the Hub already; --replace adds a commit to it"
            raise NotPushed(message) from None
    except (httpx2.HTTPError, OSError, ValueError) as problem:
        raise NotPushed(f"{name} was not made: {_reason(problem)}") from None
    try:
        commit = hub.upload_folder(
            repo_id=name,
            repo_type="dataset",
            folder_path=folder,
            commit_message="Export from dialeval",
            delete_patterns=None if is_made else "data/*",
        )
    except (HfHubHTTPError, httpx2.HTTPError, OSError, ValueError, RuntimeError) as problem:
        state = "; the empty dataset is there" if is_made else "; it is as it was"
        raise NotPushed(f"{name} was not written: {_reason(problem)}{state}") from None
    return f"hf://datasets/{name}@{commit.oid}"


def _reason(problem: Exception) -> str:
    response = getattr(problem, "response", None)
    if response is not None:
        status = response.status_code
        refused = "; HF_TOKEN may not write there" if status in (401, 403) else ""
        return f"the Hub answers with the HTTP status {status}{refused}"
    return (str(problem).splitlines() or [type(problem).__name__])[0][:300]
