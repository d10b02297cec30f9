import type { App } from '../../../core/app.ts';
import { hashPassword } from '../../../core/password-hasher.ts';
import { urlSafeToken } from '../../../core/random.ts';
import { findUserByUsername, openEmailAccount, openMessengerAccount } from '../../identity/create-account.ts';
import { findUserByEmail } from '../../identity/find-user.ts';
import { usernameOf } from './rules.ts';
import type { Contact } from './types.ts';

/** What is looked up before the transaction: hashing is slow, and the messenger is an outside system. */
export interface PreparedRecipient {
  contact: Contact;
  /** Of an account that may have to be created. */
  password: { plain: string; hash: string } | null;
  /** Null when the messenger does not say. */
  messengerId: number | null;
}

export interface Recipient {
  userId: number;
  /** This call created the account (spec 03 H3). */
  isNew: boolean;
  /** Plain, of a new account with an e-mail. */
  password: string | null;
  language: string;
}

const PASSWORD_BYTES = 12;
/** How long a purchase waits for the messenger. */
const ANSWER_MS = 5_000;

/** Looks a recipient up, outside of any transaction. If the messenger does not answer, the payment goes on without its id. */
export async function prepareRecipient(app: App, contact: Contact): Promise<PreparedRecipient> {
  if (contact.type === 'messenger') return { contact, password: null, messengerId: await askMessenger(app, contact) };
  if (await findUserByEmail(app, contact.value)) return { contact, password: null, messengerId: null };
  const plain = urlSafeToken(app.random, PASSWORD_BYTES);
  return { contact, password: { plain, hash: await hashPassword(plain) }, messengerId: null };
}

/** Whether somebody has the name of a prepared recipient: the messenger's id, or an account here that can be reached. */
export async function isPersonKnown(app: App, { contact, messengerId }: PreparedRecipient): Promise<boolean> {
  if (messengerId !== null) return true;
  const known = await findUserByUsername(app, usernameOf(contact));
  return known !== null && (known.messengerId !== null || known.email !== null);
}

async function askMessenger(app: App, contact: Contact): Promise<number | null> {
  const username = usernameOf(contact);
  const known = await findUserByUsername(app, username);
  if (known?.messengerId || !app.ports.messenger.isConfigured()) return null;
  try {
    return await answerWithin(app.ports.messenger.findPerson(username), ANSWER_MS);
  } catch (error) {
    app.log.info({ err: error }, 'a recipient could not be looked up in the messenger');
    return null;
  }
}

/** @returns null when there is no answer in time */
async function answerWithin<T>(answer: Promise<T>, ms: number): Promise<T | null> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<null>((resolve) => {
    timer = setTimeout(() => resolve(null), ms);
  });
  try {
    return await Promise.race([answer, late]);
  } finally {
    clearTimeout(timer);
  }
}

/**
 * Finds or creates the recipient's account, in the caller's transaction (spec 03 section 8.3). An existing account is not changed:
 * no password, no verified mark (spec 01 H2, spec 03 H3).
 * @param guestLanguage of the page on which the guest bought, for a new account (08 C3); null = unknown
 */
export async function openRecipient(
  t: App,
  { contact, password, messengerId }: PreparedRecipient,
  guestLanguage: string | null,
): Promise<Recipient> {
  const newLanguage = guestLanguage ?? t.settings.get('DEFAULT_LANGUAGE');
  if (contact.type === 'messenger') {
    const { id, isNew, language } = await openMessengerAccount(t, { username: usernameOf(contact), messengerId, newLanguage });
    return { userId: id, isNew, password: null, language };
  }
  const made = await openEmailAccount(t, { email: contact.value, passwordHash: password?.hash ?? null, newLanguage });
  const plain = made.isNew ? (password?.plain ?? null) : null;
  return { userId: made.id, isNew: made.isNew, password: plain, language: made.language };
}
