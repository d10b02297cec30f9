import { type Actor, type AdminActor, actorName } from '../../core/actor.ts';
import type { App } from '../../core/app.ts';
import { addMs, HOUR_MS } from '../../core/clock.ts';
import { inTransaction } from '../../core/db/transaction.ts';
import { isAppError } from '../../core/errors.ts';
import { isStaff } from '../identity/authenticate.ts';
import { userNotFound } from '../identity/errors.ts';
import { guardTarget } from '../identity/find-user.ts';
import { removePanelUser } from '../provisioning/panel-user.ts';
import { eraseInTransaction } from '../users/removal.ts';
import { mailFarewell, recordDataStep, sayFarewell } from './announce.ts';
import { type Confirmed, obligationsOpen, requireNoObligations } from './obligations.ts';
import { bind, eraseTables, PERSONAL_TABLES, type Person } from './person-tables.ts';
import {
  changeRequest,
  type DataRequest,
  endErasure,
  endExports,
  findNewest,
  findPerson,
  findRequest,
  insertRequest,
  listPersons,
  listStorageKeys,
  newRequest,
  readObligations,
  removeFarewell,
  startErasure,
} from './repo.ts';
import type { Farewell } from './types.ts';

/** What the job after the transaction needs; deleted with its end. */
interface Remains {
  persons: Person[];
  storageKeys: string[];
  farewell?: Farewell;
}

/**
 * Erases a person at once: the account and what refers to it in one transaction, the rest by a job.
 * @throws AppError 404 'User not found' | 403 (spec 01 H5) | 409 with what is open
 */
export async function erasePerson(app: App, actor: AdminActor, userId: number, confirmed: Confirmed): Promise<DataRequest> {
  await guardTarget(app, actor, userId, 'removal');
  return eraseNow(app, actor, userId, confirmed);
}

/** The same for a command of the operator. */
export function eraseNow(app: App, actor: Actor, userId: number, confirmed: Confirmed): Promise<DataRequest> {
  return inTransaction(app, async (t) => {
    if (!(await findPerson(t.db, userId, true))) throw userNotFound();
    const { forfeitsKopeks } = await requireNoObligations(t, userId, confirmed);
    const now = t.clock.now();
    const open = await findNewest(t.db, userId, 'erasure', true);
    const request = open ?? (await insertRequest(t.db, newRequest(actor, userId, 'erasure', now), now));
    const { endsSubscription } = confirmed;
    await changeRequest(t.db, request.id, 'requested', {
      requestedBy: actorName(actor),
      dueAt: now,
      forfeitsKopeks,
      endsSubscription,
    });
    await eraseLocked(t, request);
    if (actor.kind !== 'admin') await recordDataStep(t, request, actorName(actor), 'erased');
    return (await findRequest(t.db, request.id))!;
  });
}

/** How long an erasure is put off while something is open. */
const PUT_OFF_MS = HOUR_MS;

/**
 * Does what is due of an erasure (job `persons.erase`): the transaction, then what follows it. What is open by now puts it off, also a
 * balance above the one that the person gave up.
 */
export async function advanceErasure(app: App, requestId: number, signal?: AbortSignal): Promise<void> {
  const request = await findRequest(app.db, requestId);
  if (request?.state === 'requested') await eraseDue(app, request);
  await completeErasure(app, requestId, signal);
}

async function eraseDue(app: App, { id, userId, requestedBy }: DataRequest): Promise<void> {
  // Whoever got a role since then is erased by an administrator, as somebody who asks with a role is: also what he did with it is traced by him.
  if (requestedBy === `user:${userId}` && (await isStaff(app, userId))) {
    await putOff(app, id, userId, 'the account has a role');
    return;
  }
  try {
    await inTransaction(app, async (t) => {
      const person = await findPerson(t.db, userId, true);
      const request = await findNewest(t.db, userId, 'erasure', true);
      const now = t.clock.now();
      if (request?.id !== id || request.state !== 'requested' || request.dueAt === null || request.dueAt > now) return;
      if (!person) {
        await changeRequest(t.db, id, 'requested', { state: 'cancelled', finishedAt: now });
        return;
      }
      const { balanceKopeks } = await readObligations(t.db, userId, now);
      const forfeitsBalance = balanceKopeks <= request.forfeitsKopeks;
      await requireNoObligations(t, userId, { forfeitsBalance, endsSubscription: request.endsSubscription });
      await eraseLocked(t, request);
      await recordDataStep(t, request, request.requestedBy, 'erased');
    });
  } catch (error) {
    if (!isAppError(error) || error.code !== obligationsOpen.code) throw error;
    await putOff(app, id, userId, 'money or obligations are open');
  }
}

async function putOff(app: App, requestId: number, userId: number, reason: string): Promise<void> {
  await changeRequest(app.db, requestId, 'requested', { dueAt: addMs(app.clock.now(), PUT_OFF_MS) });
  app.log.info({ userId, requestId, reason }, 'an erasure is put off');
}

/** In the transaction that has locked the user: everything of the database that is found by the account, and what is known for the rest. */
async function eraseLocked(t: App, request: DataRequest): Promise<void> {
  const { userId } = request;
  const farewell = await sayFarewell(t, userId);
  const erasedAt = t.clock.now().toISOString();
  const accounts = (await listPersons(t.db, userId)).map((person) => Object.assign(person, { erasedAt }));
  const storageKeys: string[] = [];
  for (const person of accounts) {
    await endExports(t.db, person.userId, t.clock.now());
    const { of, condition, values } = filesOf(person);
    storageKeys.push(...(await listStorageKeys(t.db, `${of} AND NOT ${condition}`, values)));
    await eraseTables(t.db, 'before', person);
  }
  for (const { userId: id } of accounts) await eraseInTransaction(t, id, { deletesFromPanel: true, reason: null });
  // A merge has moved rows that have the former name to the account.
  const moved = accounts.slice(1).map((person) => Object.assign({}, person, { userId, panelUuid: null }));
  const remains: Remains = { persons: [...accounts, ...moved], storageKeys, ...(farewell && { farewell }) };
  await startErasure(t.db, request.id, remains);
  await t.jobs.send('persons.erase', { requestId: request.id }, { singletonKey: String(request.id) });
}

function filesOf(person: Person) {
  const entry = PERSONAL_TABLES.find(({ table }) => table === 'media_files')!;
  const values: unknown[] = [];
  const condition = entry.erasure.by === 'delete' ? (entry.erasure.unless ?? 'false') : 'true';
  return { of: bind(entry.of, person, values), condition: bind(condition, person, values), values };
}

/**
 * What follows the transaction: the panel user, the contents of files, and rows that are found by identifiers. Each part can be repeated; the
 * identifiers are deleted at the end, so a failure is tried again until everything is gone.
 * @throws PanelError or an error of the storage; the queue retries
 */
async function completeErasure(app: App, requestId: number, signal?: AbortSignal): Promise<void> {
  const request = await findRequest(app.db, requestId);
  if (request?.state !== 'running') return;
  const farewell = await removeFarewell(app.db, requestId);
  if (farewell) await mailFarewell(app, farewell);
  const { persons, storageKeys } = request.remains as unknown as Remains;
  for (const person of persons) {
    if (person.panelUuid !== null) await removePanelUser(app, person.panelUuid, 'delete');
    await eraseTables(app.db, 'afterwards', person, signal);
  }
  for (const key of storageKeys) await app.ports.mediaStore.delete(key);
  await inTransaction(app, async (t) => {
    if (await endErasure(t.db, requestId, t.clock.now())) await recordDataStep(t, request, 'system:jobs', 'done');
  });
}
