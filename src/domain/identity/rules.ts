import { createHash } from 'node:crypto';
import type { App } from '../../core/app.ts';
import { firstCharacters } from '../../core/characters.ts';
import type { Random } from '../../core/random.ts';
import type { UserRecord } from './types.ts';

const REFERRAL_ALPHABET = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789';
const MAX_NAME_LENGTH = 255;
const MAX_LANGUAGE_LENGTH = 5;

/** Makes a name safe in HTML (spec 01 section 1.1): replaces `<`, `>` and `&` by similar characters and trims it; empty = null. */
export function cleanName(name: string | null | undefined): string | null {
  const clean = (name ?? '').replace(/</g, '‹').replace(/>/g, '›').replace(/&/g, '＆').trim();
  return clean === '' ? null : firstCharacters(clean, MAX_NAME_LENGTH);
}

/**
 * The name as people bring it, safe in HTML; null also where it contains a word of `DISPLAY_NAME_BANNED_KEYWORDS` (spec 10 O4), so that the
 * account is shown by its user name or id. Nobody is refused for a name that another service gives.
 */
export function displayedName({ settings }: Pick<App, 'settings'>, name: string | null | undefined): string | null {
  const clean = cleanName(name);
  const banned = settings.get('DISPLAY_NAME_BANNED_KEYWORDS').split(/[,\n]/).map(comparable).filter(Boolean);
  return clean !== null && banned.some((word) => comparable(clean).includes(word)) ? null : clean;
}

/** Full-width and other forms of a letter count as the letter, in any case. */
const comparable = (value: string): string => value.normalize('NFKC').trim().toLowerCase();

/** `ru-RU` and ` RU ` become `ru`, and so does an empty value. */
export function normaliseLanguage(language: string | null | undefined): string {
  return shortLanguage(language ?? '') || 'ru';
}

/** The same, but an empty value stays empty. */
export function shortLanguage(language: string): string {
  return firstCharacters((language.trim().toLowerCase().split('-')[0] ?? '').trim(), MAX_LANGUAGE_LENGTH);
}

type Named = Pick<UserRecord, 'id' | 'firstName' | 'lastName' | 'username' | 'messengerId' | 'email'>;

/** The name to show: first and last, else username, else `ID{messenger_id}`, else local part of the e-mail, else `User{id}`. */
export function fullName(user: Named): string {
  const parts = [user.firstName, user.lastName].filter((part) => part !== null && part !== '');
  if (parts.length > 0) return parts.join(' ');
  if (user.username) return user.username;
  if (user.messengerId !== null) return `ID${user.messengerId}`;
  return user.email?.split('@')[0] || `User${user.id}`;
}

type Linked = Pick<UserRecord, 'messengerId' | 'email' | 'hasPassword' | 'googleId' | 'yandexId' | 'discordId' | 'vkId'>;

/** Sign-in methods of the account in the order of the interface; an e-mail counts with a password, verified or not. */
export function authMethods(user: Linked): string[] {
  const methods: [string, boolean][] = [
    ['messenger', user.messengerId !== null],
    ['email', user.email !== null && user.hasPassword],
    ['google', user.googleId !== null],
    ['yandex', user.yandexId !== null],
    ['discord', user.discordId !== null],
    ['vk', user.vkId !== null],
  ];
  return methods.filter(([, isLinked]) => isLinked).map(([name]) => name);
}

/**
 * Whether the owner can sign in with this e-mail now; decides whether another sign-in method may be unlinked (spec 01 H21).
 * @param verificationEnabled `CABINET_EMAIL_VERIFICATION_ENABLED`
 */
export function canSignInByEmail(
  user: Pick<UserRecord, 'email' | 'hasPassword' | 'emailVerified'>,
  verificationEnabled: boolean,
): boolean {
  return user.email !== null && user.hasPassword && (user.emailVerified || !verificationEnabled);
}

/** E-mails are stored and looked up in lower case (spec 01 H13). */
export function normaliseEmail(email: string): string {
  return email.trim().toLowerCase();
}

/** `ref` and 8 random letters or digits. */
export function newReferralCode(random: Random): string {
  return `ref${Array.from({ length: 8 }, () => REFERRAL_ALPHABET[random.int(0, REFERRAL_ALPHABET.length)]).join('')}`;
}

/** The fallback code: `ref` and the last 6 digits of unix time. */
export function timedReferralCode(now: Date): string {
  return `ref${String(Math.floor(now.getTime() / 1_000)).slice(-6)}`;
}

/** How secrets sent to a user (links, codes, refresh tokens) are stored: SHA-256 hex (spec 01 H11). */
export function secretHash(secret: string): string {
  return createHash('sha256').update(secret).digest('hex');
}

/**
 * Key of a signed token in the list of used ones: SHA-256 hex of the signed part. The signature has several encodings (unused
 * bits of its last character), so a hash of the whole text would miss a repetition.
 */
export function signedPartHash(token: string): string {
  return secretHash(token.slice(0, Math.max(0, token.lastIndexOf('.'))));
}

/** Maximum age of identity data in calls of the mini-app: 24 hours (spec 01 section 3, spec 02 section 12.1). */
export const MINIAPP_INIT_DATA_MAX_AGE_SECONDS = 24 * 3_600;

/** Maximum age of identity data that the cabinet accepts: clients reuse it for long (spec 01 section 3). */
export const INIT_DATA_MAX_AGE_SECONDS = 30 * 24 * 3_600;
