import type { UserActor } from '../../../core/actor.ts';
import type { App } from '../../../core/app.ts';
import { addMs, MINUTE_MS, SECOND_MS } from '../../../core/clock.ts';
import { refusal } from '../../../core/errors.ts';
import { passwordsOverloaded, verifyPassword } from '../../../core/password-hasher.ts';
import { clearLimit, limitOrRefuse, tooManyRequests } from '../../../core/rate-limit.ts';
import { isStaff } from '../authenticate.ts';
import { findPasswordHash } from '../email/repo.ts';
import { sessionEnded } from '../errors.ts';
import { requireUser } from '../find-user.ts';
import type { ChallengeKey } from '../second-factor/passkeys.ts';
import { type FactorMethod, readMethods } from '../second-factor/policy.ts';
import { type FactorProof, factorInvalid, showFactor } from '../second-factor/show-factor.ts';
import type { UserRecord } from '../types.ts';
import { accessTokenFor, recordProof } from './sessions.ts';
import type { TokenPair } from './types.ts';

/** How a user can prove again who he is without another sign-in. */
export type ProofMethod = 'password' | 'messenger' | FactorMethod;

/** What the user shows; exactly one of them. */
export interface Proof extends FactorProof {
  password?: string | null | undefined;
  initData?: string | null | undefined;
}

const NOT_RECENT = 'Prove who you are: this session has no proof that is recent enough';

export const freshSignInRequired = refusal('fresh_sign_in_required', 403, NOT_RECENT, (methods: readonly ProofMethod[]) => ({
  detail: {
    code: 'fresh_sign_in_required',
    message: NOT_RECENT,
    methods,
  },
}));

// Not 401, at which clients refresh their tokens and send the same once more.
const proofInvalid = refusal('proof_invalid', 403, 'Invalid password or Messenger authentication data');

export const PROOF_REFUSES = [proofInvalid, factorInvalid, passwordsOverloaded, tooManyRequests];

const ATTEMPTS = 10;
const ATTEMPTS_WINDOW_SECONDS = (15 * MINUTE_MS) / SECOND_MS;

/** How old the last proof may be in milliseconds; null while `FRESH_SIGN_IN_MINUTES` is 0 and any is enough. */
function greatestAgeMs(app: App): number | null {
  const minutes = app.settings.get('FRESH_SIGN_IN_MINUTES');
  return minutes === 0 ? null : minutes * MINUTE_MS;
}

/** Until when the session counts as fresh; null when it does not. */
function freshUntil(app: App, actor: UserActor, ageMs: number | null): Date | null {
  const provedAt = actor.session?.provedAt;
  if (ageMs === null || !provedAt) return null;
  const until = addMs(provedAt, ageMs);
  return until > app.clock.now() ? until : null;
}

/**
 * Refuses what cannot be undone to a session whose user has not proved recently who he is (spec 01 section 4.6).
 * @throws AppError 403 {code: 'fresh_sign_in_required', methods}
 */
export async function requireFreshSignIn(app: App, actor: UserActor): Promise<void> {
  const ageMs = greatestAgeMs(app);
  if (ageMs === null || freshUntil(app, actor, ageMs) !== null) return;
  throw freshSignInRequired(await proofMethods(app, actor));
}

/**
 * For changes of the ways to sign in (spec 01 sections 4.6 and 4.7): what could be used later in place of the proof that is missing now.
 * @throws AppError 403 {code: 'fresh_sign_in_required', methods}
 */
export async function requireProofForSignInMethods(app: App, actor: UserActor): Promise<void> {
  if ((await readMethods(app, actor.userId)).length > 0) await requireProof(app, actor);
  else if (await isStaff(app, actor.userId)) await requireFreshSignIn(app, actor);
}

/**
 * The same for changes of the own second factors, whether or not the setting is on: by somebody who has one, it must have been shown.
 * @throws AppError 403 {code: 'fresh_sign_in_required', methods}
 */
export async function requireProof(app: App, actor: UserActor): Promise<void> {
  const isFresh = freshUntil(app, actor, greatestAgeMs(app) ?? DEFAULT_AGE_MS) !== null;
  const factors = await readMethods(app, actor.userId);
  if (isFresh && (factors.length === 0 || actor.session?.hasSecondFactor)) return;
  throw freshSignInRequired(await proofMethods(app, actor));
}

/** What the session is asked for, and whether it counts as fresh now. */
export async function readFreshSignIn(app: App, actor: UserActor) {
  return {
    isRequired: greatestAgeMs(app) !== null,
    freshUntil: freshUntil(app, actor, greatestAgeMs(app)),
    methods: await proofMethods(app, actor),
  };
}

/** Who has a second factor proves it by that: the session has begun with the first one. */
async function proofMethods(app: App, actor: UserActor): Promise<ProofMethod[]> {
  const factors = await readMethods(app, actor.userId);
  if (factors.length > 0) return factors;
  const user = await requireUser(app, actor.userId);
  return [...(user.hasPassword ? (['password'] as const) : []), ...(user.messengerId === null ? [] : (['messenger'] as const))];
}

/**
 * Makes the session fresh by the password, by launch data that the messenger has signed within the allowed age, or, where the user has one,
 * by the second factor only. The refresh token stays.
 * @throws AppError 401 | 403 | 429 after 10 attempts of an account in 15 minutes
 */
export async function proveAgain(app: App, actor: UserActor, proof: Proof): Promise<Omit<TokenPair, 'refreshToken'>> {
  const { session } = actor;
  if (!session) throw sessionEnded();
  const user = await requireUser(app, actor.userId);
  const proved =
    (await readMethods(app, user.id)).length > 0
      ? await proveByFactor(app, user.id, proof, sessionChallenge(session.id))
      : await proveByFirst(app, user, proof);
  const admission = await recordProof(app, user.id, { sessionId: session.id, ...proved });
  if (!admission) throw sessionEnded();
  return accessTokenFor(app, user, admission);
}

/** For what a passkey signs in a session. */
export const sessionChallenge = (sessionId: string): ChallengeKey => `passkey:session:${sessionId}`;

async function proveByFactor(app: App, userId: number, proof: Proof, challenge: ChallengeKey) {
  if (proof.password != null || proof.initData != null) throw factorInvalid();
  await showFactor(app, userId, proof, challenge);
  return { provedAt: app.clock.now(), passwordHash: null, hasSecondFactor: true };
}

async function proveByFirst(app: App, user: UserRecord, { password, initData }: Proof) {
  const limitKey = `proof:account:${user.id}`;
  await limitOrRefuse(app, limitKey, ATTEMPTS, ATTEMPTS_WINDOW_SECONDS);
  const proved =
    password == null ? proveByMessenger(app, user.messengerId, initData ?? '') : await proveByPassword(app, user.id, password);
  await clearLimit(app, limitKey);
  return { ...proved, hasSecondFactor: false };
}

async function proveByPassword(app: App, userId: number, password: string) {
  const passwordHash = await findPasswordHash(app.db, userId);
  if (!(await verifyPassword(password, passwordHash)) || passwordHash === null) throw proofInvalid();
  return { provedAt: app.clock.now(), passwordHash };
}

/** Launch data of a page that has been open for hours proves nothing: a stolen page has it, too. */
function proveByMessenger(app: App, messengerId: number | null, initData: string) {
  const ageMs = greatestAgeMs(app) ?? DEFAULT_AGE_MS;
  const identity = app.ports.messengerIdentity.verifyInitData(initData, ageMs / SECOND_MS);
  if (!identity || identity.messengerId === null || identity.messengerId !== messengerId) throw proofInvalid();
  const now = app.clock.now();
  return { provedAt: identity.signedAt > now ? now : identity.signedAt, passwordHash: null };
}

const DEFAULT_AGE_MS = 10 * MINUTE_MS;
