import { z } from 'zod';
import type { UserActor } from '../../../core/actor.ts';
import type { App } from '../../../core/app.ts';
import { inTransaction } from '../../../core/db/transaction.ts';
import { refusal } from '../../../core/errors.ts';
import { defineEvent, type EventsOf } from '../../../core/events/define-event.ts';
import { recordCommand } from '../../access/audit-log.ts';
import { readEffectiveAccess } from '../../access/effective-access.ts';
import { notifyUser, recipientOf } from '../../messaging/send-message.ts';
import { htmlText, type TextKey, text } from '../../messaging/texts.ts';
import { forgetSessionUser } from '../authenticate.ts';
import { sessionEnded } from '../errors.ts';
import { requireUser } from '../find-user.ts';
import { listOpenSessions } from '../repo.ts';
import { freshSignInRequired, requireProof, sessionChallenge } from '../sessions/fresh-sign-in.ts';
import {
  accessTokenFor,
  closeAllSessions,
  closeOtherSessions,
  forgetShownFactors,
  lockUser,
  recordProof,
} from '../sessions/sessions.ts';
import type { UserRecord } from '../types.ts';
import { accountName, authenticationOptions, readRegistration, registrationOptions, siteOf } from './passkeys.ts';
import { isOffered } from './policy.ts';
import {
  countRecoveryCodes,
  deleteAllFactors,
  deleteFactor,
  insertPasskey,
  insertTotp,
  listFactors,
  listTotps,
  renameFactor,
  replaceRecoveryCodes,
} from './repo.ts';
import { encrypted, factorInvalid, newTotpSecret, recoveryHash, spendCode } from './show-factor.ts';

const secondFactorOff = refusal('second_factor_off', 403, 'A second factor is not offered to this account');
const tooManyFactors = refusal('too_many_factors', 409, 'An account has at most 10 second factors');
export const passkeyInvalid = refusal('passkey_invalid', 400, 'The passkey was not accepted');
export const passkeyTaken = refusal('passkey_taken', 409, 'This passkey belongs to an account already');
export const factorNotFound = refusal('factor_not_found', 404, 'Second factor not found');
export const noFactorYet = refusal('no_factor_yet', 409, 'Add a second factor first');

export const ENROL_REFUSES = [secondFactorOff, freshSignInRequired, tooManyFactors];

const MAX_FACTORS = 10;
const RECOVERY_CODES = 10;
/** 79 bits: a copy of the hashes gives nobody the codes. */
const CODE_LENGTH = 16;
const CODE_GROUP = 4;
/** Without letters and digits that look alike. */
const CODE_ALPHABET = 'abcdefghjkmnpqrstuvwxyz23456789';

const CHANGES = ['added', 'removed', 'reset', 'codes'] as const;

export const SECOND_FACTOR_EVENTS = [
  defineEvent(
    'notification.second_factor_changed',
    z.object({
      change: z
        .enum(CHANGES)
        .describe(
          'What happened: a factor was `added` or `removed`, all were removed (`reset`), or there are other recovery `codes`.',
        ),
      name: z.string().describe('Name of the factor; empty where all are meant.'),
    }),
    {
      audience: 'user',
      description: 'The second factors of the account were changed, for a user without a messenger.',
      example: { change: 'added', name: 'Phone' },
    },
  ),
] as const;

declare module '../../../core/events/event-recorder.ts' {
  interface EventTypes extends EventsOf<typeof SECOND_FACTOR_EVENTS> {}
}

/** The second factors of the caller, and what is asked of him. */
export async function readFactors(app: App, actor: UserActor) {
  const { userId, session } = actor;
  const [isAvailable, factors, recoveryCodesLeft, access] = await Promise.all([
    isOffered(app, userId),
    listFactors(app.db, userId),
    countRecoveryCodes(app.db, userId),
    readEffectiveAccess(app, userId),
  ]);
  return {
    isAvailable,
    isDemanded: access.requiresSecondFactor && app.settings.get('SECOND_FACTOR_FOR') !== 'nobody',
    isShown: session?.hasSecondFactor === true,
    factors,
    recoveryCodesLeft,
  };
}

async function requireMayEnrol(app: App, actor: UserActor): Promise<UserRecord> {
  if (!(await isOffered(app, actor.userId))) throw secondFactorOff();
  await requireProof(app, actor);
  if ((await listFactors(app.db, actor.userId)).length >= MAX_FACTORS) throw tooManyFactors();
  return requireUser(app, actor.userId);
}

/**
 * Begins to add an authenticator app (RFC 6238). It counts once a code of it was entered; another beginning replaces this one.
 * @returns the secret, shown this once
 * @throws AppError 403 | 409
 */
export async function beginTotp(app: App, actor: UserActor, name: string) {
  const user = await requireMayEnrol(app, actor);
  const { secret, uri } = await newTotpSecret(app, siteOf(app).rpId, accountName(user));
  const stored = await encrypted(app, secret);
  await inTransaction(app, async (t) => {
    await lockUser(t.db, user.id);
    await insertTotp(t.db, { userId: user.id, name, secret: stored, now: t.clock.now() });
  });
  return { secret, uri };
}

/** @throws AppError 403 'The code or passkey is not valid', also when nothing waits for a code */
export async function confirmTotp(app: App, actor: UserActor, code: string) {
  const user = await requireMayEnrol(app, actor);
  return addFactor(app, actor, user, async (t) => {
    const id = await spendCode(t, await listTotps(t.db, user.id, false), code);
    if (id === null) throw factorInvalid();
    return id;
  });
}

/** What `navigator.credentials.create` needs for another passkey. @throws AppError 403 | 409 */
export async function beginPasskey(app: App, actor: UserActor) {
  return registrationOptions(app, await requireMayEnrol(app, actor), enrolmentChallenge(actor));
}

const enrolmentChallenge = ({ session }: UserActor) => `passkey:enrolment:${session?.id ?? ''}` as const;

/** @param response answer of `navigator.credentials.create` as JSON @throws AppError 400 | 403 | 409 */
export async function addPasskey(app: App, actor: UserActor, { name, response }: { name: string; response: unknown }) {
  const user = await requireMayEnrol(app, actor);
  const passkey = await readRegistration(app, enrolmentChallenge(actor), response);
  if (!passkey) throw passkeyInvalid();
  return addFactor(app, actor, user, async (t) => {
    const id = await insertPasskey(t.db, { userId: user.id, name, ...passkey, now: t.clock.now() });
    if (id === null) throw passkeyTaken();
    return id;
  });
}

/** With the first factor come the recovery codes, and sessions that began without it end, but this one. */
async function addFactor(app: App, actor: UserActor, user: UserRecord, add: (t: App) => Promise<number>) {
  const { session } = actor;
  if (!session) throw sessionEnded();
  const { admission, ...added } = await inTransaction(app, async (t) => {
    await lockUser(t.db, user.id);
    const before = await listFactors(t.db, user.id);
    if (before.length >= MAX_FACTORS) throw tooManyFactors();
    // Another session has added the first one meanwhile.
    if (before.length > 0 && !session.hasSecondFactor) throw freshSignInRequired([]);
    const id = await add(t);
    const factor = (await listFactors(t.db, user.id)).find((one) => one.id === id)!;
    const recoveryCodes = before.length === 0 ? await renewCodes(t, user.id) : null;
    if (before.length === 0) await closeOtherSessions(t, user.id, session.id);
    await notify(t, user, 'added', factor.name);
    // Adding it has shown it. A session that has ended adds nothing.
    const proof = { sessionId: session.id, provedAt: t.clock.now(), passwordHash: null, hasSecondFactor: true };
    const proved = await recordProof(t, user.id, proof);
    if (!proved) throw sessionEnded();
    return { factor, recoveryCodes, admission: proved };
  });
  return { ...added, ...(await accessTokenFor(app, user, admission)) };
}

/** Under the lock of the account: an access token outlives its session by minutes. */
async function requireOpenSession(t: App, { userId, session }: UserActor): Promise<void> {
  if (!session) throw sessionEnded();
  const open = await listOpenSessions(t.db, [{ userId, sessionId: session.id }], t.clock.now());
  if (open.length === 0) throw sessionEnded();
}

async function renewCodes(t: App, userId: number): Promise<string[]> {
  const codes = Array.from({ length: RECOVERY_CODES }, () => newCode(t));
  const hashes = codes.map(recoveryHash);
  await replaceRecoveryCodes(t.db, userId, hashes, t.clock.now());
  return codes;
}

function newCode({ random }: App): string {
  const letters = Array.from({ length: CODE_LENGTH }, () => CODE_ALPHABET[random.int(0, CODE_ALPHABET.length)]).join('');
  return letters.match(new RegExp(`.{${CODE_GROUP}}`, 'g'))!.join('-');
}

/** Other recovery codes; those of before are void. @throws AppError 403 | 409 */
export async function renewRecoveryCodes(app: App, actor: UserActor): Promise<string[]> {
  await requireProof(app, actor);
  const user = await requireUser(app, actor.userId);
  return inTransaction(app, async (t) => {
    await lockUser(t.db, user.id);
    await requireOpenSession(t, actor);
    if ((await listFactors(t.db, user.id)).length === 0) throw noFactorYet();
    await notify(t, user, 'codes', '');
    return renewCodes(t, user.id);
  });
}

/** With the last one the recovery codes go. @throws AppError 403 | 404 */
export async function removeFactor(app: App, actor: UserActor, id: number): Promise<void> {
  await requireProof(app, actor);
  const user = await requireUser(app, actor.userId);
  await inTransaction(app, async (t) => {
    await lockUser(t.db, user.id);
    await requireOpenSession(t, actor);
    const removed = await deleteFactor(t.db, user.id, id);
    if (!removed) throw factorNotFound();
    if ((await listFactors(t.db, user.id)).length === 0) {
      await replaceRecoveryCodes(t.db, user.id, [], t.clock.now());
      await forgetShownFactors(t, user.id);
    }
    await notify(t, user, 'removed', removed.name);
  });
}

/** @throws AppError 403 | 404 */
export async function nameFactor(app: App, actor: UserActor, id: number, name: string) {
  await requireProof(app, actor);
  return inTransaction(app, async (t) => {
    await lockUser(t.db, actor.userId);
    await requireOpenSession(t, actor);
    const renamed = await renameFactor(t.db, actor.userId, id, name);
    if (!renamed) throw factorNotFound();
    return renamed;
  });
}

/** What a passkey of the caller must sign to prove again who he is (`proveAgain`). */
export async function readSessionChallenge(app: App, { userId, session }: UserActor) {
  if (!session) throw sessionEnded();
  return authenticationOptions(app, userId, sessionChallenge(session.id));
}

/**
 * For somebody who has lost his second factor and the codes: removes all of them and ends his sessions. For the operator only.
 * @returns how many factors there were @throws AppError 404 'User not found'
 */
export async function resetSecondFactor(app: App, actorName: string, userId: number): Promise<number> {
  const user = await requireUser(app, userId);
  return inTransaction(app, async (t) => {
    await lockUser(t.db, user.id);
    const count = await deleteAllFactors(t.db, user.id);
    await replaceRecoveryCodes(t.db, user.id, [], t.clock.now());
    await closeAllSessions(t, user.id);
    await forgetSessionUser(t, user.id);
    await recordCommand(t, actorName, {
      ...{ command: 'admin reset-second-factor', permission: 'roles:edit', resourceId: String(user.id) },
      ...{ before: { factors: count }, after: { factors: 0 } },
    });
    await notify(t, user, 'reset', '');
    return count;
  });
}

/** To the person, whoever did it: a thief's change is seen. */
async function notify(t: App, user: UserRecord, change: (typeof CHANGES)[number], name: string): Promise<void> {
  const sentence: TextKey = `messages.second_factor_${change}`;
  await notifyUser(t, recipientOf(user), {
    html: htmlText(user.language, sentence, { name }),
    mail: 'second_factor_changed',
    mailParams: { change: text(user.language, sentence, { name }) },
    event: 'notification.second_factor_changed',
    context: { change, name },
  });
}
