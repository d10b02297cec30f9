/** What an installation of production consists of, by CycloneDX, made of npm's list of everything that is installed. */
import { foundLicence, type LockedPackage, productionPackages } from '../checks/licences.ts';

/** The fields of CycloneDX 1.5 that are read here. */
export interface BillOfMaterials {
  bomFormat: string;
  specVersion: string;
  components: Component[];
  dependencies: { ref: string; dependsOn: string[] }[];
}

interface Component {
  'bom-ref': string;
  name: string;
  version: string;
  licenses?: unknown[];
}

/**
 * `npm sbom --omit=dev` leaves out packages that a development dependency needs, too (in 2026-11 more than half of the production tree); so all of
 * the installed ones are asked for, and the others removed here by package-lock.json.
 * @param all the answer of `npm sbom --sbom-format=cyclonedx`
 * @param packages `packages` of package-lock.json
 */
export function productionBill(all: BillOfMaterials, packages: Readonly<Record<string, LockedPackage>>): BillOfMaterials {
  const wanted = new Set(productionPackages(packages).map(({ name, locked }) => `${name}@${locked.version}`));
  const components = all.components
    .filter(({ name, version }) => wanted.has(`${name}@${version}`))
    .map((component) => (component.licenses?.length ? component : withFoundLicence(component)));
  const refs = new Set(components.map((component) => component['bom-ref']));
  const root = all.dependencies.slice(0, 1);
  const dependencies = [...root, ...all.dependencies.slice(1).filter(({ ref }) => refs.has(ref))].map(({ ref, dependsOn }) => ({
    ref,
    dependsOn: dependsOn.filter((one) => refs.has(one)),
  }));
  return { ...all, components, dependencies };
}

function withFoundLicence(component: Component): Component {
  const id = foundLicence(component.name);
  return id === undefined ? component : { ...component, licenses: [{ license: { id } }] };
}

/**
 * @param isInstalled whether an optional package is there: those of other machines are not
 * @returns a line for each package of production that the bill does not have, or has without its licence
 */
export function gapsOf(
  bill: BillOfMaterials,
  packages: Readonly<Record<string, LockedPackage>>,
  isInstalled: (path: string) => boolean,
): string[] {
  const named = new Map(bill.components.map((component) => [`${component.name}@${component.version}`, component]));
  return productionPackages(packages).flatMap(({ path, name, locked }) => {
    if ((locked.optional || locked.devOptional) && !isInstalled(path)) return [];
    const component = named.get(`${name}@${locked.version}`);
    if (component === undefined) return [`${name}@${locked.version} is missing`];
    return component.licenses?.length ? [] : [`${name}@${locked.version} has no licence`];
  });
}
