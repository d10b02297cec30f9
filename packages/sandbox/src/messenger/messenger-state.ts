import { createHmac, randomBytes } from 'node:crypto';

export interface SandboxMessage {
  messageId: number;
  chatId: number;
  /** The person who sent it; absent for a message of the bot. */
  senderId?: number;
  /** The text has tags. */
  isHtml?: true;
  text: string;
  /** Rows of buttons as received. */
  buttons: { text: string; url?: string; callback_data?: string; web_app?: { url: string } }[][];
  /** ISO 8601, UTC. */
  sentAt: string;
  /** File id of the picture, video or document that the text captions. */
  photo?: string;
  video?: string;
  document?: string;
  /** Content of a document as text; cut at 64 KiB. */
  file?: { name: string; text: string };
  /** Topic of a group. */
  threadId?: number;
  /** Sent without a sound. */
  isSilent?: true;
  /** Pinned in its chat now. */
  isPinned?: true;
}

export interface SandboxStarsInvoice {
  link: string;
  title: string;
  description: string;
  payload: string;
  stars: number;
  status: 'pending' | 'paid' | 'refused' | 'refunded';
  /** Set once paid; of the latest payment. */
  chargeId: string | null;
  /** Who paid it; absent in states stored by earlier versions. */
  payerId?: number | null;
}

/** A transfer of Stars, oldest first in the list of the bot. */
export interface SandboxStarsTransfer {
  chargeId: string;
  stars: number;
  payerId: number;
  payload: string;
  isRefund: boolean;
  /** Unix seconds. */
  date: number;
}

/** As the bot receives it. */
export interface SandboxUpdate {
  update_id: number;
  [kind: string]: unknown;
}

export interface QueuedUpdate {
  update: SandboxUpdate;
  /** Delivered again although it was confirmed. */
  isRepeat?: true;
}

/** What the bot answered when a person pressed a button. */
export interface SandboxAnswer {
  queryId: string;
  userId: number;
  text: string;
  isAlert: boolean;
}

/** Absent fields: the state was stored by an earlier version. */
export interface MessengerState {
  nextId: number;
  messages: SandboxMessage[];
  invoices: SandboxStarsInvoice[];
  /** Absent in states stored by earlier versions. */
  transfers?: SandboxStarsTransfer[];
  webhook: { url: string; secret: string | null } | null;
  /** Users who blocked the bot. */
  blocked: number[];
  /** Chats that are unknown to the messenger. */
  unknown: number[];
  /** Channel or group, member, status; a user without an entry is a member. */
  memberships: { chatId: string; userId: number; status: string }[];
  /** Ids by public name in lower case; absent in states stored by earlier versions. */
  people?: Record<string, number>;
  /** Persons of the chat panel. */
  chatters?: SandboxMessengerUser[];
  /** The bot fetches its updates; the webhook of the service is not used. */
  isPolled?: boolean;
  /** Kinds of update that the bot wants; empty = the usual ones. */
  allowedUpdates?: string[];
  queue?: QueuedUpdate[];
  /** The latest updates, delivered or not. */
  recent?: SandboxUpdate[];
  answers?: SandboxAnswer[];
  commands?: { command: string; description: string }[];
}

export function emptyMessengerState(): MessengerState {
  return { nextId: 1, messages: [], invoices: [], webhook: null, blocked: [], unknown: [], memberships: [] };
}

/** Messages stored; older ones are dropped. */
export const MAX_MESSAGES = 500;

/** Files whose content is kept; an older one is known by its id only. */
const MAX_FILES = 30;

interface StoredFile extends SentFile {
  fileId: string;
  fileUniqueId: string;
}

/** Content of sent files, in memory: they are lost with the process, their ids are not. */
export class SentFiles {
  readonly #byUniqueId = new Map<string, StoredFile>();

  keep(file: SentFile): StoredFile {
    const fileUniqueId = `AQAD${randomBytes(9).toString('base64url')}`;
    const stored = { ...file, fileId: `AgACAgIAAxkB${randomBytes(12).toString('base64url')}${fileUniqueId}`, fileUniqueId };
    this.#byUniqueId.set(fileUniqueId, stored);
    const oldest = this.#byUniqueId.keys().next().value;
    if (this.#byUniqueId.size > MAX_FILES && oldest !== undefined) this.#byUniqueId.delete(oldest);
    return stored;
  }

  byUniqueId(id: string): StoredFile | null {
    return this.#byUniqueId.get(id) ?? null;
  }
}

// A `multipart/form-data` body as clients of the Bot API send it: texts and files.

export interface SentFile {
  name: string;
  contentType: string;
  bytes: Buffer;
}

/** Fields by name; JSON is parsed, as the Bot API does with keyboards. Null for a body that is no form. */
export function formBody(contentType: string, body: Buffer): Record<string, unknown> | null {
  const boundary = /^multipart\/form-data;.*boundary="?([^";]+)/.exec(contentType)?.[1];
  if (boundary === undefined) return null;
  const fields: Record<string, unknown> = {};
  for (const part of partsOf(body, Buffer.from(`--${boundary}`))) {
    const end = part.indexOf('\r\n\r\n');
    if (end < 0) continue;
    const head = part.subarray(0, end).toString('utf8');
    const name = /name="([^"]*)"/.exec(head)?.[1];
    if (name === undefined) continue;
    const content = part.subarray(end + 4, part.length - 2);
    const [, quoted, bare] = /filename=(?:"([^"]*)"|([^;\s]+))/.exec(head) ?? [];
    const fileName = quoted ?? bare;
    const type = /^content-type:\s*(\S+)/im.exec(head)?.[1] ?? 'application/octet-stream';
    fields[name] =
      fileName === undefined
        ? fieldValue(content.toString('utf8'))
        : { name: fileName, contentType: type, bytes: Buffer.from(content) };
  }
  return withAttached(fields);
}

/** A field may name the part that has its file: `attach://part`. */
function withAttached(fields: Record<string, unknown>): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(fields).map(([name, value]) => {
      const part = typeof value === 'string' ? /^attach:\/\/(.+)$/.exec(value)?.[1] : undefined;
      return [name, part === undefined ? value : (fields[part] ?? value)];
    }),
  );
}

/** Everything between two boundaries, with the line break before the second. */
function partsOf(body: Buffer, boundary: Buffer): Buffer[] {
  const parts: Buffer[] = [];
  for (let start = body.indexOf(boundary); start >= 0; ) {
    const next = body.indexOf(boundary, start + boundary.length);
    if (next < 0) break;
    parts.push(body.subarray(start + boundary.length + 2, next));
    start = next;
  }
  return parts;
}

function fieldValue(text: string): unknown {
  if (/^-?\d{1,15}$/.test(text)) return Number(text);
  if (!/^[[{]/.test(text)) return text;
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return text;
  }
}

export function isSentFile(value: unknown): value is SentFile {
  return typeof value === 'object' && value !== null && 'bytes' in value && Buffer.isBuffer(value.bytes);
}

export interface SandboxMessengerUser {
  id: number;
  first_name: string;
  last_name?: string;
  username?: string;
  language_code?: string;
}

/** A person as updates name it. */
export function wireUser(user: SandboxMessengerUser): Record<string, unknown> {
  return { ...user, is_bot: false };
}

/**
 * Signs mini-app identity data as the messenger does (spec 01 section 3): HMAC-SHA256 over the sorted pairs, keyed by
 * HMAC-SHA256("WebAppData", bot token).
 * @param authDate time of the simulated sign-in
 * @returns the query string a mini-app hands to the service
 */
export function signInitData(botToken: string, user: SandboxMessengerUser, authDate: Date, startParameter?: string): string {
  const pairs: [string, string][] = [
    ['auth_date', String(Math.floor(authDate.getTime() / 1_000))],
    ['query_id', `SANDBOX${user.id}`],
    // The messenger adds a public-key signature for third parties; it is not checked here, but the HMAC covers it.
    ['signature', createHmac('sha512', botToken).update(String(user.id)).digest('base64url')],
    ...(startParameter === undefined ? [] : [['start_param', startParameter] as [string, string]]),
    ['user', JSON.stringify(user)],
  ];
  const checkString = pairs
    .map(([key, value]) => `${key}=${value}`)
    .sort()
    .join('\n');
  const key = createHmac('sha256', 'WebAppData').update(botToken).digest();
  const hash = createHmac('sha256', key).update(checkString).digest('hex');
  return new URLSearchParams([...pairs, ['hash', hash]]).toString();
}
