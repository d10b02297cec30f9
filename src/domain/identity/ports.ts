import type { App } from '../../core/app.ts';
import type { SessionUser } from './types.ts';

/** The user of the mini-app, as the messenger signed it. */
export interface MessengerIdentity {
  /** Null when the signed data has no user. */
  messengerId: number | null;
  username: string | null;
  firstName: string | null;
  lastName: string | null;
  /** IETF tag, for example `ru` or `en-US`. */
  languageCode: string | null;
  signedAt: Date;
}

/** Fields of the messenger's login widget; every field that is present, except `hash`, is signed. */
export interface WidgetData {
  id: number;
  first_name?: string | null;
  last_name?: string | null;
  username?: string | null;
  photo_url?: string | null;
  /** Unix seconds. */
  auth_date: number;
  /** 64 hex digits. */
  hash: string;
}

/** Claims of an OpenID Connect token whose signature, issuer, audience and times are valid. */
export interface IdTokenIdentity {
  /** Claim `id`, else `sub`, as text; null when both are empty. Not checked to be a messenger id. */
  userId: string | null;
  username: string | null;
  firstName: string | null;
  lastName: string | null;
  locale: string | null;
  expiresAt: Date;
}

/** Why identity data of the mini-app is refused. */
export type InitDataFault =
  | 'bot_token_missing'
  | 'signature_missing'
  | 'signature_invalid'
  | 'auth_date_invalid'
  | 'too_old'
  /** Correctly signed, but its `user` is not JSON. */
  | 'user_unreadable';

export type InitDataReading =
  | { fault: InitDataFault }
  /** `hasUser`: the data has a `user` object; without one the identity is read from the pairs. */
  | { fault: null; identity: MessengerIdentity; hasUser: boolean };

/** Verifies identity data that the messenger signed. */
export interface MessengerIdentityPort {
  /** The same check as `verifyInitData`, with the reason of a refusal. */
  readInitData(initData: string, maxAgeSeconds: number): InitDataReading;
  /**
   * Checks the mini-app's identity data. No outside call: the bot token is the key.
   * @param maxAgeSeconds maximum age; a time up to 300 s in the future is accepted, too
   * @returns null when the signature, the age or the form is invalid, or no bot token is set
   */
  verifyInitData(initData: string, maxAgeSeconds: number): MessengerIdentity | null;
  /** Checks the login widget's fields by the same rules. No outside call. */
  verifyWidget(data: WidgetData, maxAgeSeconds: number): boolean;
  /** Whether sign-in by OpenID Connect is enabled and has a client id. */
  isOidcEnabled(): boolean;
  /**
   * Checks an OpenID Connect token; the issuer's keys are fetched when they are not cached, so never call it in a transaction.
   * @returns null for a token of another issuer or audience, expired or malformed
   * @throws AppError 503 when the issuer's keys cannot be read
   */
  verifyIdToken(idToken: string): Promise<IdTokenIdentity | null>;
  /** Name of the bot without `@`; null while none is set. */
  botUsername(): string | null;
  /** Base of the messenger's links to bots, without a slash at the end. */
  linkBase(): string;
}

/**
 * A check that may refuse an authenticated user: blacklist, maintenance, required channels (spec 01 section 4.2, rows 7 to 9). Never
 * called in a transaction, because it may call other systems. Without effect (undefined) and without a query while it is disabled.
 * @throws AppError the refusal
 */
type Gate = (app: App, user: SessionUser) => Promise<void> | undefined;

declare module '../../core/app.ts' {
  interface Ports {
    messengerIdentity: MessengerIdentityPort;
    /** In the order of the checks. */
    gates: readonly Gate[];
  }
}
