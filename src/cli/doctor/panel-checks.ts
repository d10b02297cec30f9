import type { Ports } from '../../core/app.ts';
import { isPanelError } from '../../domain/provisioning/ports.ts';
import { type Finding, ok, problem, warning } from './finding.ts';
import type { Shop } from './shop.ts';

/** Major versions of the panel that the adapter was measured with. */
const KNOWN_MAJORS: readonly number[] = [2, 3];

interface PanelFacts {
  ports: Pick<Ports, 'panel'>;
  /** Null = it could not be read. */
  shop: Shop | null;
}

/** Whether the panel answers, is of a known version, and has what is sold. */
export async function checkPanel({ ports: { panel }, shop }: PanelFacts): Promise<Finding[]> {
  const missing = panel.configurationError();
  if (missing !== null)
    return [problem('panel', missing, 'Set VPNPANEL_API_URL and VPNPANEL_API_KEY; without a panel nothing can be sold.')];
  try {
    await panel.ping();
    const squads = await panel.listInternalSquads();
    const found =
      squads.length === 0 ? noSquads() : ok('panel', `answers; ${squads.length} squad${squads.length === 1 ? '' : 's'}`);
    const version = versionFinding(await panel.readVersion());
    if (shop === null) return [found, version];
    return [found, version, ...unusedSquads(squads, shop), ...(await staleExternalSquads(panel, shop))];
  } catch (error) {
    return [failure(error)];
  }
}

const noSquads = () =>
  warning('panel', 'answers, but has no squads', 'Make an internal squad in the panel: tariffs open squads.');

function failure(error: unknown): Finding {
  const status = isPanelError(error) ? error.status : null;
  const detail = error instanceof Error ? error.message : 'does not answer';
  if (status === 401 || status === 403)
    return problem('panel', detail, 'The panel refuses the key: make a new API token in the panel and set VPNPANEL_API_KEY.');
  const next = 'Look at VPNPANEL_API_URL (the address of the panel itself, with https) and whether this machine reaches it.';
  return problem('panel', detail, next);
}

function versionFinding(version: string | null): Finding {
  const known = `known are ${KNOWN_MAJORS.map((major) => `${major}.x`).join(' and ')}`;
  const next = 'Look whether synchronisation and purchases work, and for a newer release of this service.';
  if (version === null) return warning('panel version', `the panel does not tell its version; ${known}`, next);
  const isKnown = KNOWN_MAJORS.includes(Number.parseInt(version.replace(/^v/i, ''), 10));
  return isKnown ? ok('panel version', version) : warning('panel version', `${version} is not known; ${known}`, next);
}

/** Squads of the panel that no purchase and no trial gives to anybody. */
function unusedSquads(squads: readonly { uuid: string; name: string }[], { usableSquads }: Shop): Finding[] {
  const unused = squads.filter(({ uuid }) => !usableSquads.includes(uuid));
  if (squads.length === 0) return [];
  if (unused.length === 0) return [ok('panel squads', 'each can be bought or tried')];
  const next = 'POST /servers/sync makes servers of them; put the servers on sale or name them in a tariff.';
  return [warning('panel squads', `nobody can use: ${unused.map(({ name }) => name).join(', ')}`, next)];
}

/** External squads that tariffs name and the panel does not have (08 P3). */
async function staleExternalSquads(panel: Ports['panel'], { externalSquads }: Shop): Promise<Finding[]> {
  if (externalSquads.length === 0) return [];
  const known = new Set((await panel.listExternalSquads()).map((squad) => squad.uuid));
  const stale = externalSquads.filter(({ uuid }) => !known.has(uuid));
  if (stale.length === 0) return [ok('external squads', 'the panel has those of all tariffs')];
  const names = stale.map(({ tariff, uuid }) => `${tariff} (${uuid})`).join(', ');
  return [
    warning(
      'external squads',
      `the panel does not have those of: ${names}`,
      'Choose another external squad in these tariffs, or none.',
    ),
  ];
}
