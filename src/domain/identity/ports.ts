import type { App } from '../../core/app.ts';
import type { SessionUser } from './types.ts';

/** Who the messenger says is using the mini-app. */
export interface MessengerIdentity {
  /** Null when the signed data names nobody. */
  messengerId: number | null;
  username: string | null;
  firstName: string | null;
  lastName: string | null;
  /** IETF tag, for example `ru` or `en-US`. */
  languageCode: string | null;
}

/** What the messenger's login widget hands to the page; every field but `hash` is signed, as far as it is there. */
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

/** Claims of an OpenID Connect token whose signature, issuer, audience and times are right. */
export interface IdTokenIdentity {
  /** Claim `id`, else `sub`, as text; null when both are empty. May still be no messenger id. */
  userId: string | null;
  username: string | null;
  firstName: string | null;
  lastName: string | null;
  locale: string | null;
  expiresAt: Date;
}

/** Why identity data of the mini-app is not believed. */
export type InitDataFault =
  | 'bot_token_missing'
  | 'signature_missing'
  | 'signature_invalid'
  | 'auth_date_invalid'
  | 'too_old'
  /** Genuine, but its `user` is no JSON. */
  | 'user_unreadable';

export type InitDataReading =
  | { fault: InitDataFault }
  /** `hasUser`: the data holds a `user` object; without one the identity is read from the pairs themselves. */
  | { fault: null; identity: MessengerIdentity; hasUser: boolean };

/** Checks what the messenger signed for a user. */
export interface MessengerIdentityPort {
  /** The same check as `verifyInitData`, which says what is wrong. */
  readInitData(initData: string, maxAgeSeconds: number): InitDataReading;
  /**
   * Checks the mini-app's identity data (spec 01 section 3). No outside call: the bot token is the key.
   * @param maxAgeSeconds oldest sign-in that is believed; one from up to 300 s in the future is, too
   * @returns null when the signature, the age or the form is wrong, or no bot token is set
   */
  verifyInitData(initData: string, maxAgeSeconds: number): MessengerIdentity | null;
  /** Checks the login widget's fields by the same rules. No outside call. */
  verifyWidget(data: WidgetData, maxAgeSeconds: number): boolean;
  /** Is sign-in by OpenID Connect switched on, with a client id? */
  isOidcEnabled(): boolean;
  /**
   * Checks an OpenID Connect token; the issuer's keys are fetched when they are not known, so never call it in a transaction.
   * @returns null for a token that is not the issuer's, not ours, expired or malformed
   * @throws AppError 503 when the issuer's keys cannot be read
   */
  verifyIdToken(idToken: string): Promise<IdTokenIdentity | null>;
  /** Name of the bot without `@`; null while none is set. */
  botUsername(): string | null;
  /** Where the messenger's links to bots begin, without a slash at the end. */
  linkBase(): string;
}

/**
 * A rule that may stop an authenticated user at the door: blacklist, maintenance, required channels (spec 01 section 4.2, rows 7
 * to 9). Never called in a transaction: it may ask the outside. While it is off it costs no query.
 * @throws AppError what the user is told
 */
export type Gate = (app: App, user: SessionUser) => Promise<void> | undefined;

declare module '../../core/app.ts' {
  interface Ports {
    messengerIdentity: MessengerIdentityPort;
    /** In the order in which they are judged. */
    gates: readonly Gate[];
  }
}
