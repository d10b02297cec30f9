import type { App } from '../../core/app.ts';
import { inParallel } from '../provisioning/long-runs/drive-run.ts';
import { listParkedPanelUsers } from '../provisioning/parked-panel-users.ts';
import type { PanelGeneration, PanelUser } from '../provisioning/ports.ts';

/** Live users of a sample. */
const SAMPLE = 200;
/** With more unknown ones among a sample the links are those of another panel: the service must not start. */
const UNKNOWN_SHARE = 0.1;

interface Linked {
  userId: number;
  uuid: string;
  shortUuid: string | null;
  endsAt: Date;
}

export interface PanelLinkCheck {
  /** How the panel addresses users, and how most links of this service do. */
  panel: PanelGeneration;
  links: PanelGeneration | null;
  checked: number;
  /** Users whose link the panel does not know. */
  unknown: number[];
  /** Users whose panel user differs, with what. */
  differing: { userId: number; what: string }[];
  /** Live subscriptions without a link: looked up after the start. */
  withoutLink: number;
  /** Panel users of subscriptions that were kept aside. */
  parked: number;
  /** The service may start: it would find the panel users of these people. */
  isRight: boolean;
}

/** The form of a handle that stands for a number (spec 07 section 4.6). */
const IS_NUMBER = "u.vpnpanel_uuid::text LIKE '00000000-0000-8000-8000-%'";
const IS_LIVE = "s.status IN ('active', 'trial', 'limited') AND s.end_date > $1::timestamptz";

/**
 * Looks imported users up at the panel, reading only (spec 07 section 9): whether it knows them by their links, with the same subscription link and
 * end.
 * @param all every live user instead of a sample
 * @throws PanelError when the panel does not answer
 */
export async function checkPanelLinks(app: App, all: boolean): Promise<PanelLinkCheck> {
  const { db, ports, clock } = app;
  const panel = await ports.panel.readGeneration();
  const now = clock.now();
  const [counted] = await db.sql<{ numbers: number; linked: number; withoutLink: number }>(
    `SELECT count(*) FILTER (WHERE ${IS_NUMBER}) AS numbers, count(u.vpnpanel_uuid) AS linked, count(*) FILTER (WHERE u.vpnpanel_uuid IS NULL) AS without_link
     FROM users u JOIN subscriptions s ON s.user_id = u.id WHERE ${IS_LIVE}`,
    [now],
  );
  const { numbers, linked, withoutLink } = counted!;
  const parked = (await listParkedPanelUsers(db)).length;
  const links = linked === 0 ? null : numbers * 2 > linked ? 'number' : 'uuid';
  const sample = await db.sql<Linked>(
    `SELECT u.id AS user_id, u.vpnpanel_uuid::text AS uuid, s.vpnpanel_short_uuid AS short_uuid, s.end_date AS ends_at
     FROM users u JOIN subscriptions s ON s.user_id = u.id WHERE ${IS_LIVE} AND u.vpnpanel_uuid IS NOT NULL
     ORDER BY ${all ? 'u.id' : `md5(u.id::text) LIMIT ${SAMPLE}`}`,
    [now],
  );
  const check: PanelLinkCheck = {
    panel,
    links,
    checked: sample.length,
    unknown: [],
    differing: [],
    withoutLink,
    parked,
    isRight: true,
  };
  await inParallel(app, null, sample, async (one) => compare(one, await ports.panel.findByUuid(one.uuid), check));
  const fits = links === null || links === panel;
  return { ...check, isRight: fits && check.unknown.length <= sample.length * UNKNOWN_SHARE };
}

function compare({ userId, shortUuid, endsAt }: Linked, found: PanelUser | null, check: PanelLinkCheck): void {
  if (found === null) {
    check.unknown.push(userId);
    return;
  }
  const what = [
    ...(shortUuid !== null && found.shortUuid !== shortUuid ? ['another subscription link'] : []),
    // The panel keeps whole seconds.
    ...(Math.abs(found.expireAt.getTime() - endsAt.getTime()) >= 1_000 ? ['another end'] : []),
  ];
  if (what.length > 0) check.differing.push({ userId, what: what.join(', ') });
}
