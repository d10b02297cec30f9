import { CHAT_SCRIPT } from './chat-panel.ts';
import { handleChatRequest } from './chat-requests.ts';
import { PAGE_HTML, PAGE_SCRIPT, PAGE_STYLE } from './sandbox-page.ts';
import { GUARD_HEADER, json, notAllowed, parsed, reply, type SandboxReply, type SandboxRequest } from './sandbox-reply.ts';
import type { SandboxView } from './sandbox-view.ts';

/** Furthest the clock may be moved in one step: 30 days. */
const MAX_ADVANCE_MS = 30 * 24 * 60 * 60 * 1_000;
const MAX_DUPLICATES = 100;
const ASSETS: Readonly<Record<string, { type: string; body: string }>> = {
  '/sandbox': { type: 'text/html; charset=utf-8', body: PAGE_HTML },
  '/sandbox/page.css': { type: 'text/css; charset=utf-8', body: PAGE_STYLE },
  '/sandbox/chat.js': { type: 'text/javascript; charset=utf-8', body: CHAT_SCRIPT },
  '/sandbox/page.js': { type: 'text/javascript; charset=utf-8', body: PAGE_SCRIPT },
};

/** The sandbox page and its small JSON interface under `/sandbox`; to be mounted only while the sandbox is on. */
export async function handleSandboxRequest(view: SandboxView, request: SandboxRequest): Promise<SandboxReply> {
  const path = request.path.length > 1 ? request.path.replace(/\/$/, '') : request.path;
  const asset = Object.hasOwn(ASSETS, path) ? ASSETS[path] : undefined;
  if (asset) return request.method === 'GET' ? reply(200, asset.type, asset.body) : notAllowed('GET');
  if (path === '/sandbox/api/state') return request.method === 'GET' ? json(200, await readState(view)) : notAllowed('GET');
  const chats = await handleChatRequest(view.chats, { ...request, path });
  if (chats) return chats;

  const step = /^\/sandbox\/api\/payments\/([^/]+)\/(pay|fail|refund)$/.exec(path);
  const clock = path === '/sandbox/api/clock';
  const delivery = path === '/sandbox/api/payments/delivery';
  const flush = path === '/sandbox/api/payments/flush';
  const membership = path === '/sandbox/api/memberships';
  if (!step && !clock && !delivery && !flush && !membership) return json(404, { detail: 'Not Found' });
  if (request.method !== 'POST') return notAllowed('POST');
  if (request.headers[GUARD_HEADER] !== '1') return json(403, { detail: 'Only the sandbox page may do this' });
  if (delivery) return setDelivery(view, request.body);
  if (membership) return setMember(view, request.body);
  if (flush) {
    await view.payments.flush();
    return json(200, { success: true });
  }
  return step ? takeStep(view, step[1] ?? '', step[2] as 'pay' | 'fail' | 'refund') : advanceClock(view, request.body);
}

async function readState(view: SandboxView): Promise<unknown> {
  const [mail, messages, users, squads, invoices] = await Promise.all([
    view.mail.list(),
    view.messenger.list(),
    view.panel.users(),
    view.panel.squads(),
    view.payments.list(),
  ]);
  return { now: view.clock.now().toISOString(), mail, messages, users, squads, invoices };
}

async function takeStep(view: SandboxView, encodedId: string, step: 'pay' | 'fail' | 'refund'): Promise<SandboxReply> {
  let id: string;
  try {
    id = decodeURIComponent(encodedId);
  } catch {
    return json(404, { detail: 'Not Found' });
  }
  const done = await view.payments[step](id);
  return done ? json(200, { success: true }) : json(409, { detail: 'The invoice does not allow this step' });
}

/** Real providers deliver twice and out of order; this makes the fake one do so. */
function setDelivery(view: SandboxView, body: string): SandboxReply {
  const wanted = parsed(body) as { duplicates?: unknown; isPaused?: unknown } | null;
  const { duplicates = 0, isPaused = false } = wanted ?? {};
  if (
    !Number.isSafeInteger(duplicates) ||
    (duplicates as number) < 0 ||
    (duplicates as number) > MAX_DUPLICATES ||
    typeof isPaused !== 'boolean'
  ) {
    return json(422, { detail: `duplicates must be 0 to ${MAX_DUPLICATES}, isPaused a boolean` });
  }
  view.payments.setDelivery({ duplicates: duplicates as number, isPaused });
  return json(200, { success: true });
}

/** Required channels can be tried: by default everybody is a member of every channel (spec 10 U9). */
async function setMember(view: SandboxView, body: string): Promise<SandboxReply> {
  const wanted = parsed(body) as { channel_id?: unknown; user_id?: unknown; is_member?: unknown } | null;
  const { channel_id: channelId, user_id: userId, is_member: isMember } = wanted ?? {};
  if (typeof channelId !== 'string' || channelId === '' || !Number.isSafeInteger(userId) || typeof isMember !== 'boolean') {
    return json(422, { detail: 'channel_id must be a text, user_id a whole number, is_member a boolean' });
  }
  await view.messenger.setMember(channelId, userId as number, isMember);
  return json(200, { success: true });
}

async function advanceClock(view: SandboxView, body: string): Promise<SandboxReply> {
  const ms = advanceOf(body);
  if (ms === null) return json(422, { detail: `advance_ms must be a whole number from 1 to ${MAX_ADVANCE_MS}` });
  await view.clock.advance(ms);
  return json(200, { success: true, now: view.clock.now().toISOString() });
}

function advanceOf(body: string): number | null {
  const ms = (parsed(body) as { advance_ms?: unknown } | null)?.advance_ms;
  return typeof ms === 'number' && Number.isSafeInteger(ms) && ms >= 1 && ms <= MAX_ADVANCE_MS ? ms : null;
}
