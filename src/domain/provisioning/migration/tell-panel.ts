import type { App } from '../../../core/app.ts';
import type { RunHold } from '../long-runs/drive-run.ts';
import { tryAgain } from '../long-runs/try-again.ts';
import { isPanelError } from '../ports.ts';
import { chunkFor, groupBySquads } from './rules.ts';
import type { MigrationItem, PanelOutcome } from './types.ts';

const PARALLEL = 5;
/** Single calls between two renewals of the lease. */
const SINGLES_A_RENEWAL = 25;

/** The new squads of an item. */
export interface Wish {
  item: MigrationItem;
  squads: string[];
}

export interface Told {
  outcome: PanelOutcome;
  error: string | null;
}

/** What a worker remembers of the panel between two batches. */
export interface PanelMemory {
  /** Squads of the panel; forgotten after each failure. */
  squads: Set<string> | null;
}

/**
 * Tells the panel the new squads of a batch, users with the same squads together. Only squads that the panel has are named, since
 * an unknown one would break the call for everybody; without the target among them there is nothing to tell, and the user stays.
 * @returns what became of each subscription, by its id
 */
export async function tellPanel(
  app: App,
  hold: RunHold,
  memory: PanelMemory,
  wishes: readonly Wish[],
  target: string,
): Promise<Map<number, Told>> {
  const told = new Map<number, Told>();
  const toTell: Wish[] = [];
  for (const wish of wishes) {
    if (wish.item.panelUuid === null) told.set(wish.item.subscriptionId, { outcome: 'nobody', error: null });
    else toTell.push(wish);
  }
  if (toTell.length === 0) return told;
  const note = (some: readonly Wish[], outcome: PanelOutcome, error: string | null) => {
    for (const { item } of some) told.set(item.subscriptionId, { outcome, error });
  };
  let known: Set<string>;
  try {
    await hold.renew(app);
    known = memory.squads ?? new Set((await tryAgain(() => app.ports.panel.listInternalSquads())).map((squad) => squad.uuid));
    memory.squads = known;
  } catch (error) {
    note(toTell, 'failed', panelText(error));
    return told;
  }
  if (!known.has(target)) {
    memory.squads = null;
    note(toTell, 'refused', 'The panel does not have the target squad');
    return told;
  }
  const size = chunkFor(Math.max(...toTell.map(({ item }) => item.attempts)));
  const groups = groupBySquads(toTell, (wish) => wish.squads.filter((uuid) => known.has(uuid)));
  for (const { squads, items } of groups) {
    for (let start = 0; start < items.length; start += size) {
      const chunk = items.slice(start, start + size);
      await hold.renew(app);
      const outcome = size === 1 ? 'singly' : await tellTogether(app, chunk, squads);
      if (outcome === 'singly') await tellSingly(app, hold, chunk, squads, note);
      else note(chunk, outcome.outcome, outcome.error);
    }
  }
  if ([...told.values()].some(({ outcome }) => outcome === 'failed' || outcome === 'refused')) memory.squads = null;
  return told;
}

/** @returns `singly` when the answer does not say for whom it holds, or the panel has no such call */
async function tellTogether(app: App, chunk: readonly Wish[], squads: string[]): Promise<Told | 'singly'> {
  const uuids = chunk.map(({ item }) => item.panelUuid!);
  try {
    const affected = await tryAgain(() => app.ports.panel.setSquadsOfUsers(uuids, squads));
    return affected !== null && affected < uuids.length ? 'singly' : { outcome: 'told', error: null };
  } catch (error) {
    const text = panelText(error);
    if (isPanelError(error) && (error.kind === 'rejected' || error.status === 404 || error.status === 405)) return 'singly';
    return { outcome: 'failed', error: text };
  }
}

async function tellSingly(
  app: App,
  hold: RunHold,
  chunk: readonly Wish[],
  squads: string[],
  note: (some: readonly Wish[], outcome: PanelOutcome, error: string | null) => void,
): Promise<void> {
  for (let start = 0; start < chunk.length; start += SINGLES_A_RENEWAL) {
    await hold.renew(app);
    const queue = chunk.slice(start, start + SINGLES_A_RENEWAL).values();
    const worker = async () => {
      for (const wish of queue) {
        const { outcome, error } = await tellOne(app, wish.item.panelUuid!, squads);
        note([wish], outcome, error);
      }
    };
    await Promise.all(Array.from({ length: PARALLEL }, worker));
  }
}

async function tellOne(app: App, uuid: string, squads: string[]): Promise<Told> {
  try {
    const changed = await tryAgain(() => app.ports.panel.updateUser({ uuid, squadUuids: squads }));
    return { outcome: changed === null ? 'absent' : 'told', error: null };
  } catch (error) {
    const text = panelText(error);
    return { outcome: isPanelError(error) && error.kind === 'rejected' ? 'refused' : 'failed', error: text };
  }
}

/** @throws what is no error of the panel */
function panelText(error: unknown): string {
  if (isPanelError(error)) return error.message;
  throw error;
}
