import type { SandboxMessengerUser } from '../messenger/messenger-state.ts';
import { GUARD_HEADER, json, notAllowed, parsed, reply, type SandboxReply, type SandboxRequest } from './sandbox-reply.ts';
import type { ViewChats } from './sandbox-view.ts';

const CHATS = '/sandbox/api/chats';
const MAX_TEXT = 4_096;
const MAX_CAPTION = 1_024;
const MAX_PHOTO_BYTES = 10 * 1024 * 1024;
const SUCCESS = { success: true };

/** The chats of the page: who talks to the bot, what was said, and what a person does. @returns null for other paths */
export async function handleChatRequest(chats: ViewChats, request: SandboxRequest): Promise<SandboxReply | null> {
  const { method, path } = request;
  const picture = /^\/sandbox\/api\/pictures\/([\w-]+)$/.exec(path)?.[1];
  if (picture !== undefined) return method === 'GET' ? pictureReply(chats, picture) : notAllowed('GET');
  const match = /^\/sandbox\/api\/chats(?:\/(\d{1,15})(?:\/(messages|presses|payments|repeats))?)?$/.exec(path);
  if (!match) return null;
  const [, id, action] = match;
  if (method === 'GET' && action === undefined) return read(chats, id);
  const isWrite = id === undefined || action !== undefined;
  if (!isWrite) return notAllowed('GET');
  if (method !== 'POST') return notAllowed(path === CHATS ? 'GET, POST' : 'POST');
  if (request.headers[GUARD_HEADER] !== '1') return json(403, { detail: 'Only the sandbox page may do this' });
  const body = parsed(request.body);
  const wanted = typeof body === 'object' && body !== null ? (body as Record<string, unknown>) : {};
  if (id === undefined) return addPerson(chats, wanted);
  const userId = Number(id);
  if (action === 'messages') return send(chats, userId, wanted);
  if (action === 'presses') return press(chats, userId, wanted);
  if (action === 'payments') return pay(chats, userId, wanted);
  return done(await chats.repeat(userId), 'The person has done nothing yet');
}

async function read(chats: ViewChats, id: string | undefined): Promise<SandboxReply> {
  if (id === undefined) return json(200, { bot: await chats.bot(), people: await chats.people() });
  const conversation = await chats.read(Number(id));
  return conversation ? json(200, conversation) : json(404, { detail: 'Unknown person' });
}

async function addPerson(chats: ViewChats, wanted: Record<string, unknown>): Promise<SandboxReply> {
  const { id, first_name: firstName, username, language_code: language } = wanted;
  const isId = Number.isSafeInteger(id) && (id as number) > 0 && (id as number) < 10 ** 15;
  if (
    !isId ||
    !isText(firstName, 64) ||
    !isAbsentOr(username, /^\w{1,32}$/) ||
    !isAbsentOr(language, /^[a-z]{2}(-[A-Za-z]+)?$/)
  ) {
    return json(422, {
      detail: 'id must be a positive number, first_name a text, username and language_code as in the messenger',
    });
  }
  const person: SandboxMessengerUser = { id: id as number, first_name: firstName };
  if (typeof username === 'string') person.username = username;
  if (typeof language === 'string') person.language_code = language;
  await chats.add(person);
  return json(200, SUCCESS);
}

async function send(chats: ViewChats, userId: number, wanted: Record<string, unknown>): Promise<SandboxReply> {
  const { text, photo, caption = '' } = wanted;
  if (isText(text, MAX_TEXT) && photo === undefined) return done(await chats.sendText(userId, text), 'Unknown person');
  const bytes = typeof photo === 'string' ? Buffer.from(photo, 'base64') : Buffer.alloc(0);
  const type = pictureType(bytes);
  if (
    text !== undefined ||
    type === null ||
    bytes.length > MAX_PHOTO_BYTES ||
    !(caption === '' || isText(caption, MAX_CAPTION))
  ) {
    return json(422, { detail: 'Send text, or photo as Base64 (PNG, JPEG, GIF or WebP, up to 10 MB) with a caption' });
  }
  const file = { name: `photo.${type.split('/')[1]}`, contentType: type, bytes };
  return done(await chats.sendPhoto(userId, file, caption), 'Unknown person');
}

async function press(chats: ViewChats, userId: number, wanted: Record<string, unknown>): Promise<SandboxReply> {
  const { message_id: messageId, data } = wanted;
  if (!Number.isSafeInteger(messageId) || !isText(data, 64)) {
    return json(422, { detail: 'message_id must be a whole number, data the text of a button' });
  }
  return done(await chats.press(userId, messageId as number, data), 'The message does not have this button');
}

async function pay(chats: ViewChats, userId: number, wanted: Record<string, unknown>): Promise<SandboxReply> {
  if (!isText(wanted.link, 512)) return json(422, { detail: 'link must be the address of a Stars invoice' });
  const invoice = await chats.pay(userId, wanted.link);
  return invoice ? json(200, { status: invoice.status }) : json(404, { detail: 'Unknown person or invoice' });
}

function pictureReply(chats: ViewChats, fileId: string): SandboxReply {
  const bytes = chats.file(fileId)?.bytes;
  const type = bytes ? pictureType(bytes) : null;
  return bytes && type ? reply(200, type, bytes) : json(404, { detail: 'The picture is no longer known' });
}

/** By the first bytes, so that nothing else is ever served as a picture. */
function pictureType(bytes: Buffer): string | null {
  const head = bytes.subarray(0, 12).toString('latin1');
  if (head.startsWith('\x89PNG\r\n')) return 'image/png';
  if (head.startsWith('\xff\xd8\xff')) return 'image/jpeg';
  if (/^GIF8[79]a/.test(head)) return 'image/gif';
  return /^RIFF[\s\S]{4}WEBP/.test(head) ? 'image/webp' : null;
}

function done(isDone: boolean, refusal: string): SandboxReply {
  return isDone ? json(200, SUCCESS) : json(404, { detail: refusal });
}

function isText(value: unknown, max: number): value is string {
  return typeof value === 'string' && value !== '' && value.length <= max;
}

function isAbsentOr(value: unknown, form: RegExp): boolean {
  return value === undefined || value === '' || (typeof value === 'string' && form.test(value));
}
