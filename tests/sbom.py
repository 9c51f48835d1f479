"""``make sbom``: what a release is made of, in CycloneDX: every locked package with its files'
hashes.

From the locks, so that what other platforms need is there and no network is asked. pip-audit's own
document leaves out what it did not audit. Licences are those that installed packages declare.
"""

from __future__ import annotations

import sys
from importlib.metadata import PackageNotFoundError, metadata
from pathlib import Path

from cyclonedx.contrib.license.factories import LicenseFactory
from cyclonedx.model import (
    ExternalReference,
    ExternalReferenceType,
    HashAlgorithm,
    HashType,
    Property,
    XsUri,
)
from cyclonedx.model.bom import Bom
from cyclonedx.model.component import Component, ComponentScope, ComponentType
from cyclonedx.model.license import License
from cyclonedx.output.json import JsonV1Dot6
from packageurl import PackageURL

from common.version import VERSION
from tests import lock


def main() -> int:
    path = Path(sys.argv[1])
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(sbom() + "\n", encoding="utf-8")
    print(f"{path}: every package of {len(lock.LOCKS)} locks")
    return 0


def sbom() -> str:
    """The document. What only development needs has the scope *excluded*: no part of what runs."""
    site = Component(name="dialeval", version=VERSION, type=ComponentType.APPLICATION)
    site.licenses.add(LicenseFactory().make_from_string("Apache-2.0"))
    bom = Bom()
    bom.metadata.component = site
    running = lock.read(lock.SITE, lock.SOURCE, lock.CPU, lock.CUDA)
    names = {one.name for one in running}
    of_site = [_component(one) for one in running]
    bom.components.update(of_site)
    for one in lock.read(lock.DEV):
        if one.name not in names:
            bom.components.add(_component(one, ComponentScope.EXCLUDED))
    bom.register_dependency(site, of_site)
    return JsonV1Dot6(bom).output_as_string(indent=1)


def _component(locked: lock.Locked, scope: ComponentScope = ComponentScope.REQUIRED) -> Component:
    purl = PackageURL("pypi", name=locked.name, version=locked.version)
    component = Component(
        name=locked.name, version=locked.version, scope=scope, purl=purl, bom_ref=str(purl)
    )
    # Of files, of which a package has one for each platform: the component itself has no hash.
    hashes = [HashType(alg=HashAlgorithm.SHA_256, content=digest) for digest in locked.hashes]
    place = XsUri(f"https://pypi.org/project/{locked.name}/{locked.version}/#files")
    kind = ExternalReferenceType.DISTRIBUTION
    component.external_references.add(ExternalReference(type=kind, url=place, hashes=hashes))
    if locked.marker:
        component.properties.add(Property(name="dialeval:marker", value=locked.marker))
    if declared := _licence(locked.name):
        component.licenses.add(declared)
    return component


def _licence(name: str) -> License | None:
    try:
        said = metadata(name)
    except PackageNotFoundError:  # of another platform
        return None
    licences = [one for one in said.get_all("Classifier", []) if one.startswith("License :: ")]
    if expression := said.get("License-Expression"):
        return LicenseFactory().make_from_string(expression)
    text = " and ".join(one.rpartition(" :: ")[2] for one in licences) or said.get("License", "")
    return LicenseFactory().make_with_name(text.splitlines()[0][:200]) if text.strip() else None


if __name__ == "__main__":
    sys.exit(main())
