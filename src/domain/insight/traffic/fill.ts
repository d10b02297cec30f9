import { setTimeout as wait } from 'node:timers/promises';
import type { App } from '../../../core/app.ts';
import { MINUTE_MS } from '../../../core/clock.ts';
import { refusal } from '../../../core/errors.ts';
import { isPanelError, type PanelUser } from '../../provisioning/ports.ts';
import {
  addDetails,
  addNodeBytes,
  dropFill,
  dropKeptBefore,
  type Fill,
  type FillNode,
  findFill,
  finishFill,
  isReading,
  renewFill,
  startFill,
} from './fill-repo.ts';
import type { TrafficRange } from './rules.ts';

export const trafficInProgress = refusal(
  'traffic_in_progress',
  503,
  'Traffic is being read from the panel. Try again in a moment.',
);
export const panelUnavailable = refusal('panel_unavailable', 502, 'VPN panel did not answer');

export type { Fill };

/** Both days included. */
type Days = Pick<TrafficRange, 'from' | 'to'>;

const FRESH_MS = 5 * MINUTE_MS;
/** How long a request waits for a reading; what takes longer goes on without it. */
const WAIT_MS = 10_000;
const LOOK_MS = 200;
const NODES_AT_ONCE = 5;
const ROWS_AT_ONCE = 2_000;
const USERS_PAGE = 500;
const DEVICES_PAGE = 1_000;

/**
 * Traffic of all users in the range, from the panel at most every five minutes, on all instances together. A reading that takes longer than
 * the request goes on, and the next request finds it.
 * @returns null: no panel is configured
 * @throws AppError 502 with the reason, nothing is stored then | 503 while the first reading takes longer
 */
export async function usageFill(app: App, range: Days): Promise<Fill | null> {
  if (app.ports.panel.configurationError() !== null) return null;
  return currentFill(app, `usage:${dayText(range.from)}:${dayText(range.to)}`, (fillId) => readUsage(app, fillId, range));
}

/**
 * Traffic of all users on the UTC day of a given time, likewise. The reading is kept until `dropKeptFills`, two days at most, and no page
 * shows it.
 */
export async function keptDayFill(app: App, timestamp: Date): Promise<Fill | null> {
  if (app.ports.panel.configurationError() !== null) return null;
  return currentFill(app, keptKey(timestamp), (fillId) => readUsage(app, fillId, { from: timestamp, to: timestamp }));
}

/** The reading that is kept of the day of a given time, however old; null without one. Asks nobody. */
export function findKeptFill(app: App, timestamp: Date): Promise<Fill | null> {
  return findFill(app.db, keptKey(timestamp));
}

/** Deletes the readings that are kept of the days before. */
export function dropKeptFills(app: App, timestamp: Date): Promise<void> {
  return dropKeptBefore(app.db, keptKey(timestamp));
}

const dayText = (timestamp: Date) => timestamp.toISOString().slice(0, 10);
const keptKey = (timestamp: Date) => `kept:${dayText(timestamp)}`;

/** Devices and last nodes of all users, likewise; null also when the panel does not answer. */
export async function detailsFill(app: App): Promise<Fill | null> {
  if (app.ports.panel.configurationError() !== null) return null;
  try {
    return await currentFill(app, 'details', (fillId) => readDetails(app, fillId));
  } catch (error) {
    // Any failure: devices are an addition; the list is answered without them.
    app.log.warn({ err: error }, 'traffic: devices and last nodes could not be read');
    return null;
  }
}

async function currentFill(app: App, key: string, read: (fillId: number) => Promise<FillNode[]>): Promise<Fill> {
  const known = await findFill(app.db, key);
  const isFresh = (fill: Fill | null) => fill !== null && app.clock.now().getTime() - fill.finishedAt.getTime() < FRESH_MS;
  if (known && isFresh(known)) return known;
  const fillId = await startFill(app.db, key, app.clock.now());
  const reading = fillId === null ? awaitReading(app, key, isFresh) : readNow(app, fillId, read);
  // Observed here too, because the request may be over before it fails.
  reading.catch((error: unknown) => app.log.warn({ err: error, key }, 'traffic: a reading of the panel failed'));
  const found = await Promise.race([reading, wait(WAIT_MS, null, { ref: false })]);
  if (found ?? known) return (found ?? known)!;
  throw trafficInProgress({ headers: { 'Retry-After': '10' } });
}

async function readNow(app: App, fillId: number, read: (fillId: number) => Promise<FillNode[]>): Promise<Fill> {
  try {
    return await finishFill(app.db, fillId, await read(fillId), app.clock.now());
  } catch (error) {
    await dropFill(app.db, fillId);
    if (!isPanelError(error)) throw error;
    throw panelUnavailable({ detail: error.message, cause: error });
  }
}

/** Waits for the reading of another request; null when it did not end in time. @throws AppError 502 when it failed */
async function awaitReading(app: App, key: string, isFresh: (fill: Fill | null) => boolean): Promise<Fill | null> {
  for (let waited = 0; waited < WAIT_MS; waited += LOOK_MS) {
    await wait(LOOK_MS, undefined, { ref: false });
    const fill = await findFill(app.db, key);
    if (isFresh(fill)) return fill;
    if (!(await isReading(app.db, key))) throw panelUnavailable();
  }
  return null;
}

/** A node that does not answer is left out; none that answers is a panel that is away. */
async function readUsage(app: App, fillId: number, range: Days): Promise<FillNode[]> {
  const { panel } = app.ports;
  const nodes = await panel.listNodes();
  const waiting = [...nodes];
  const failures: unknown[] = [];
  const work = async () => {
    for (let node = waiting.shift(); node; node = waiting.shift()) {
      try {
        const rows = (await panel.listNodeUserBytes(node.uuid, range)) ?? [];
        for (let at = 0; at < rows.length; at += ROWS_AT_ONCE) {
          await renewFill(app.db, fillId);
          await addNodeBytes(app.db, fillId, node.uuid, rows.slice(at, at + ROWS_AT_ONCE));
        }
      } catch (error) {
        if (!isPanelError(error)) throw error;
        failures.push(error);
        app.log.warn({ node: node.uuid, kind: error.kind }, 'traffic: a node gave no answer');
      }
    }
  };
  await Promise.all(Array.from({ length: Math.min(NODES_AT_ONCE, nodes.length) }, work));
  if (nodes.length > 0 && failures.length === nodes.length) throw failures[0];
  const shown = nodes.map(({ uuid, name, countryCode }) => ({ uuid, name, countryCode: countryCode ?? '' }));
  return shown.sort((a, b) => a.name.localeCompare(b.name) || a.uuid.localeCompare(b.uuid));
}

/** Page by page, so that memory does not grow with the number of users. */
async function readDetails(app: App, fillId: number): Promise<FillNode[]> {
  const { panel } = app.ports;
  const names = new Map((await panel.listNodes()).map((node) => [node.uuid, node.name]));
  await eachPage(USERS_PAGE, async (page) => {
    const { users, total } = await panel.listUsers(page);
    await add(users.flatMap((user) => lastNodeOf(user, names)));
    return { rows: users.length, total };
  });
  await eachPage(DEVICES_PAGE, async (page) => {
    const { devices, total } = await panel.listAllDevices(page);
    const counts = Map.groupBy(devices, (device) => device.userUuid);
    await add([...counts].map(([userUuid, { length }]) => ({ userUuid, devices: length, lastNodeName: null })));
    return { rows: devices.length, total };
  });
  return [];

  async function add(rows: Parameters<typeof addDetails>[2]) {
    await renewFill(app.db, fillId);
    if (rows.length > 0) await addDetails(app.db, fillId, rows);
  }
}

function lastNodeOf(user: PanelUser, names: ReadonlyMap<string, string>) {
  const lastNodeName = user.lastConnectedNodeUuid === null ? undefined : names.get(user.lastConnectedNodeUuid);
  return lastNodeName === undefined ? [] : [{ userUuid: user.uuid, devices: 0, lastNodeName }];
}

async function eachPage(
  size: number,
  read: (page: { start: number; size: number }) => Promise<{ rows: number; total: number }>,
): Promise<void> {
  for (let start = 0; ; ) {
    const { rows, total } = await read({ start, size });
    start += rows;
    if (rows === 0 || start >= total) return;
  }
}
