import type { App } from '../../core/app.ts';
import { SECOND_MS } from '../../core/clock.ts';
import { inTransaction } from '../../core/db/transaction.ts';
import { refusal } from '../../core/errors.ts';
import { putIfAbsent } from '../../core/short-lived.ts';
import { forgetSessionUser } from './authenticate.ts';
import { type CreatedUser, claimPurchasedAccount, createUser, resolveReferrer } from './create-account.ts';
import { oidcKeysUnavailable, unauthorized, userNotActive } from './errors.ts';
import type { WidgetData } from './ports.ts';
import { findByMessengerId, updateProfile } from './repo.ts';
import { cleanName, displayedName, INIT_DATA_MAX_AGE_SECONDS, signedPartHash } from './rules.ts';
import { openSession, type SignIn } from './sessions/sessions.ts';
import type { UserRecord } from './types.ts';

const initDataInvalid = unauthorized('init_data_invalid', 'Invalid or expired Messenger authentication data');
const messengerIdMissing = unauthorized('messenger_id_missing', 'Missing Messenger user ID');

export const INIT_DATA_REFUSES = [initDataInvalid, messengerIdMissing, userNotActive];

export interface InitDataSignIn {
  initData: string;
  /** Used only when this request creates the account. */
  referralCode: string | null;
}

/** A messenger user whose identity has been proved by signed data. */
export interface ProvedMessengerUser {
  messengerId: number;
  username: string | null;
  firstName: string | null;
  lastName: string | null;
  language: string | null;
}

/**
 * Signs in with the mini-app's signed data; the first time creates the account (spec 01 section 5.1).
 * @throws AppError 401 for data that the messenger did not sign or that has no user | 403 'User account is not active'
 */
export async function signInWithInitData(app: App, request: InitDataSignIn): Promise<SignIn> {
  const identity = app.ports.messengerIdentity.verifyInitData(request.initData, INIT_DATA_MAX_AGE_SECONDS);
  if (!identity) throw initDataInvalid();
  const { messengerId, languageCode, signedAt, ...names } = identity;
  if (messengerId === null) throw messengerIdMissing();
  const options = { referralCode: request.referralCode, provedAt: signedAt };
  return signInAsMessengerUser(app, { messengerId, ...names, language: languageCode }, options);
}

export interface MessengerSignInOptions {
  referralCode: string | null;
  /** A missing last name clears ours: the widget always sends the whole name. Default: ours stays. */
  clearsLastName?: boolean;
  /** When the messenger signed the data, which may be used for a day. Default: now. */
  provedAt?: Date;
}

/**
 * Opens a session for a proved messenger user; the first time creates the account.
 * @throws AppError 403 'User account is not active'
 */
export async function signInAsMessengerUser(
  app: App,
  proved: ProvedMessengerUser,
  options: MessengerSignInOptions,
): Promise<SignIn> {
  const { id, isNew } = await findOrCreate(app, proved, options);
  return { ...(await openSession(app, id, options.provedAt === undefined ? {} : { provedAt: options.provedAt })), isNew };
}

/** The steps common to all messenger sign-ins: find, else assign the account of a purchase, else create; update a known profile. */
async function findOrCreate(app: App, proved: ProvedMessengerUser, options: MessengerSignInOptions): Promise<CreatedUser> {
  const { referralCode } = options;
  const known =
    (await findByMessengerId(app.db, proved.messengerId)) ?? (await inTransaction(app, (t) => claimPurchasedAccount(t, proved)));
  const referredById = known ? null : await resolveReferrer(app, referralCode, { messengerId: proved.messengerId, email: null });
  const user: CreatedUser = known
    ? { ...known, isNew: false }
    : await createUser(app, {
        ...proved,
        authType: 'messenger',
        email: null,
        emailVerified: false,
        passwordHash: null,
        referredById,
      });
  if (user.status !== 'active') throw userNotActive();
  await refreshProfile(app, user, proved, options.clearsLastName === true);
  return user;
}

/** Stores names that differ; one that is missing or has a banned word does not clear ours. */
async function refreshProfile(app: App, user: UserRecord, proved: ProvedMessengerUser, clearsLastName: boolean): Promise<void> {
  const profile = {
    username: cleanName(proved.username) ?? user.username,
    firstName: displayedName(app, proved.firstName) ?? user.firstName,
    lastName: displayedName(app, proved.lastName) ?? (clearsLastName ? null : user.lastName),
  };
  const isSame = profile.username === user.username && profile.firstName === user.firstName && profile.lastName === user.lastName;
  if (isSame) return;
  await inTransaction(app, async (t) => {
    await updateProfile(t.db, user.id, profile, t.clock.now());
    await forgetSessionUser(t, user.id);
  });
}

const oidcUserIdMissing = unauthorized('oidc_user_id_missing', 'Missing user ID in OIDC claims');
const oidcUserIdInvalid = unauthorized('oidc_user_id_invalid', 'Invalid user ID in OIDC claims');
const idTokenInvalid = unauthorized('id_token_invalid', 'Invalid or expired Messenger OIDC token');

const oidcNotConfigured = refusal('oidc_not_configured', 400, 'Messenger OIDC is not configured');

export const ID_TOKEN_REFUSES = [oidcNotConfigured, idTokenInvalid, oidcUserIdMissing, oidcUserIdInvalid, oidcKeysUnavailable];

const MIN_GUARD_SECONDS = 60;

/**
 * Reads the messenger user of an OpenID Connect token; every token is accepted once, for sign-in and linking together (spec 01
 * sections 1.3, 3 and 5.1). May fetch the issuer's keys: never in a transaction.
 * @throws AppError 400 'Messenger OIDC is not configured' | 401 with the reasons of section 5.1 | 503 when the keys cannot be read
 */
export async function proveIdToken(app: App, idToken: string): Promise<ProvedMessengerUser> {
  const { messengerIdentity } = app.ports;
  if (!messengerIdentity.isOidcEnabled()) throw oidcNotConfigured();
  const identity = await messengerIdentity.verifyIdToken(idToken);
  if (!identity) throw tokenInvalid();
  // Until the token expires, longer than the 600 s of spec 01 section 1.3: otherwise it could be used again.
  const secondsLeft = Math.ceil((identity.expiresAt.getTime() - app.clock.now().getTime()) / SECOND_MS);
  const guardSeconds = Math.max(secondsLeft, MIN_GUARD_SECONDS);
  const isFirstUse = await putIfAbsent(app, `oidc_token:${signedPartHash(idToken)}`, { used: true }, guardSeconds);
  if (!isFirstUse) throw tokenInvalid();
  const { userId, username, firstName, lastName, locale } = identity;
  if (userId === null) throw oidcUserIdMissing();
  if (!/^[1-9]\d{0,15}$/.test(userId) || !Number.isSafeInteger(Number(userId))) throw oidcUserIdInvalid();
  return { messengerId: Number(userId), username, firstName, lastName, language: locale?.slice(0, 2) ?? null };
}

function tokenInvalid() {
  return idTokenInvalid();
}

export const widgetDataInvalid = unauthorized('widget_data_invalid', 'Invalid or expired Messenger authentication data');

/**
 * Signs in with the fields of the messenger's login widget; the first time creates the account.
 * @param referralCode used only when this request creates the account
 * @throws AppError 401 for fields that the messenger did not sign | 403 'User account is not active'
 */
export async function signInWithWidget(app: App, data: WidgetData, referralCode: string | null): Promise<SignIn> {
  if (!app.ports.messengerIdentity.verifyWidget(data, INIT_DATA_MAX_AGE_SECONDS)) throw widgetDataInvalid();
  const proved = {
    messengerId: data.id,
    username: data.username ?? null,
    firstName: data.first_name ?? null,
    lastName: data.last_name ?? null,
    language: null,
  };
  return signInAsMessengerUser(app, proved, {
    referralCode,
    clearsLastName: true,
    provedAt: new Date(data.auth_date * SECOND_MS),
  });
}

/**
 * Signs in with an OpenID Connect token of the messenger; the first time creates the account.
 * @param referralCode used only when this request creates the account
 * @throws AppError 400 'Messenger OIDC is not configured' | 401 | 403 'User account is not active' | 503
 */
export async function signInWithIdToken(app: App, idToken: string, referralCode: string | null): Promise<SignIn> {
  return signInAsMessengerUser(app, await proveIdToken(app, idToken), { referralCode });
}
