import { randomBytes } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import type { HttpClient, SandboxStore } from '../host-ports.ts';
import {
  jsonObject,
  jsonReply,
  type LoopbackReply,
  type LoopbackRequest,
  type LoopbackServer,
  startLoopbackServer,
} from '../loopback-server.ts';
import { StoredState } from '../stored-state.ts';
import { BOT_API_METHODS, type MethodContext, starsMessage, transferOf } from './bot-api-methods.ts';
import { BotApiRefusal } from './bot-api-refusal.ts';
import { type Conversations, createConversations } from './conversations.ts';
import {
  emptyMessengerState,
  formBody,
  type MessengerState,
  type SandboxMessage,
  type SandboxMessengerUser,
  type SandboxStarsInvoice,
  type SandboxUpdate,
  SentFiles,
  signInitData,
  wireUser,
} from './messenger-state.ts';
import { UPDATE_METHODS } from './update-methods.ts';
import { UpdateQueue } from './update-queue.ts';

const METHODS = { ...BOT_API_METHODS, ...UPDATE_METHODS };
const SECRET_HEADER = 'x-telegram-bot-api-secret-token';
/** The real messenger gives a bot ten seconds for the pre-checkout answer. */
const PRE_CHECKOUT_MS = 10_000;

export interface MessengerSandboxOptions {
  store: SandboxStore;
  /** Posts updates to the webhook. */
  http: HttpClient;
  botToken: string;
  botUsername: string;
  /** The service clock. */
  now: () => Date;
  /** Where updates go until `setWebhook` is called. */
  defaultWebhook?: () => { url: string; secret: string } | null;
  port?: number;
}

export interface MessengerKnobs {
  /** Answers the next calls with 429 and these seconds; each call removes one entry. */
  rateLimits: number[];
  /** Loses the updates about payments in Stars and their refunds. */
  losesStarsUpdates: boolean;
}

export interface MessengerSandbox {
  server: LoopbackServer;
  /** Faults, for trying the service. */
  knobs: MessengerKnobs;
  /** Newest first. */
  messages(): Promise<SandboxMessage[]>;
  /** Newest first. */
  starsInvoices(): Promise<SandboxStarsInvoice[]>;
  /** Pays a Stars invoice as this user: pre-checkout, then the payment. @returns the invoice afterwards, null if unknown */
  payStars(linkOrPayload: string, payer: SandboxMessengerUser): Promise<SandboxStarsInvoice | null>;
  /** Posts an update of any kind (without its id) to the webhook. @returns the service's status; 0 = no answer or no webhook */
  postUpdate(update: Record<string, unknown>): Promise<number>;
  /** Mini-app identity data of a simulated user, signed now. */
  initData(user: SandboxMessengerUser, startParameter?: string): string;
  setBlocked(messengerId: number, blocked: boolean): Promise<void>;
  setUnknown(chatId: number): Promise<void>;
  /** Makes a person known by a public name. */
  setPerson(username: string, messengerId: number): Promise<void>;
  setMembership(chatId: string, userId: number, status: string): Promise<void>;
  /** What persons do in their chats with the bot. */
  conversations: Conversations;
  /** Answers a request to the Bot API that came by another way than this server. */
  handle(request: LoopbackRequest): Promise<LoopbackReply>;
  /** Ends the `getUpdates` that waits. */
  endPoll(): void;
  close(): Promise<void>;
}

/** A fake Bot API on loopback (spec 00, SANDBOX): `/bot{token}/{method}`. */
export async function startMessengerSandbox(options: MessengerSandboxOptions): Promise<MessengerSandbox> {
  const state = new StoredState<MessengerState>(options.store, 'messenger', emptyMessengerState);
  const preCheckouts = new Map<string, (ok: boolean) => void>();
  const knobs: MessengerKnobs = { rateLimits: [], losesStarsUpdates: false };
  const files = new SentFiles();
  const webhookOf = (current: MessengerState) =>
    current.webhook ?? (current.isPolled ? null : (options.defaultWebhook?.() ?? null));
  const queue = new UpdateQueue(state, (current) => webhookOf(current) !== null);
  const context: MethodContext = {
    state,
    files,
    queue,
    postQueued: (updates) => void updates.reduce((before, update) => before.then(() => post(update)), Promise.resolve(0)),
    bot: { id: 1_000_001, username: options.botUsername, first_name: 'Sandbox bot' },
    now: options.now,
    baseUrl: () => server.url,
    answerPreCheckout: (queryId, ok) => {
      const waiting = preCheckouts.get(queryId);
      waiting?.(ok);
      return waiting !== undefined;
    },
    postStarsMessage: (message) => postStarsMessage(message),
  };

  const post = async (update: SandboxUpdate): Promise<number> => {
    const webhook = webhookOf(await state.read());
    if (!webhook) return 0;
    try {
      const response = await options.http.request({
        method: 'POST',
        url: webhook.url,
        headers: { 'content-type': 'application/json', ...(webhook.secret ? { [SECRET_HEADER]: webhook.secret } : {}) },
        body: JSON.stringify(update),
        idempotent: false,
      });
      return response.status;
    } catch {
      return 0;
    }
  };

  /** A polling bot fetches it; its answer is not waited for. */
  const postUpdate = async (content: Record<string, unknown>): Promise<number> => {
    const { update, isQueued } = await queue.add(content);
    return isQueued ? 200 : post(update);
  };

  const postStarsMessage = async (message: Record<string, unknown>): Promise<void> => {
    if (!knobs.losesStarsUpdates) await postUpdate({ message });
  };

  /** Asks the service whether the payer may pay; no answer in time is a refusal. */
  const preCheckout = async (invoice: SandboxStarsInvoice, payer: SandboxMessengerUser): Promise<boolean> => {
    const id = randomBytes(8).toString('hex');
    const stop = new AbortController();
    const answer = new Promise<boolean>((resolve) => preCheckouts.set(id, resolve));
    const tooLate = delay(PRE_CHECKOUT_MS, false, { signal: stop.signal, ref: false }).catch(() => false);
    const query = { id, from: wireUser(payer), currency: 'XTR', total_amount: invoice.stars, invoice_payload: invoice.payload };
    const refused = postUpdate({ pre_checkout_query: query }).then((status) => (status === 200 ? answer : false));
    const ok = await Promise.race([answer, refused, tooLate]);
    stop.abort();
    preCheckouts.delete(id);
    return ok;
  };

  const payStars = async (linkOrPayload: string, payer: SandboxMessengerUser): Promise<SandboxStarsInvoice | null> => {
    const matches = (invoice: SandboxStarsInvoice) => invoice.link === linkOrPayload || invoice.payload === linkOrPayload;
    const asked = (await state.read()).invoices.find(matches);
    if (!asked) return null;
    const ok = await preCheckout(asked, payer);
    // An invoice link may be paid again: every payment is a separate charge.
    const chargeId = `sandbox_${randomBytes(12).toString('hex')}`;
    const invoice = await state.update((stored) => {
      const current = stored.invoices.find(matches);
      if (!current) return null;
      if (ok) {
        Object.assign(current, { status: 'paid', chargeId, payerId: payer.id });
        stored.transfers = [...(stored.transfers ?? []), transferOf({ ...current, chargeId }, payer.id, options.now(), false)];
      }
      if (!ok && current.status === 'pending') current.status = 'refused';
      return { ...current };
    });
    if (invoice && ok) {
      await postStarsMessage(starsMessage('successful_payment', { ...invoice, chargeId }, payer.id, options.now()));
    }
    return invoice;
  };

  const answer = async (method: string, request: LoopbackRequest): Promise<LoopbackReply> => {
    const perform = Object.hasOwn(METHODS, method) ? METHODS[method] : undefined;
    try {
      if (!perform) throw new BotApiRefusal(404, 'Not Found');
      const retryAfter = knobs.rateLimits.shift();
      if (retryAfter !== undefined) {
        throw new BotApiRefusal(429, `Too Many Requests: retry after ${retryAfter}`, retryAfter);
      }
      const payload =
        formBody(request.headers['content-type'] ?? '', request.rawBody) ??
        jsonObject(request.body) ??
        Object.fromEntries(request.query);
      return jsonReply(200, { ok: true, result: await perform(context, payload) });
    } catch (error) {
      if (!(error instanceof BotApiRefusal)) throw error;
      const parameters = error.retryAfter === null ? {} : { parameters: { retry_after: error.retryAfter } };
      return jsonReply(error.status, { ok: false, error_code: error.status, description: error.message, ...parameters });
    }
  };

  const handle = async (request: LoopbackRequest): Promise<LoopbackReply> => {
    const match = /^(\/file)?\/bot([^/]+)\/(?:(\w+)|\w+\/([\w-]+)\.\w+)$/.exec(request.path);
    if (!match) return jsonReply(404, { ok: false, error_code: 404, description: 'Not Found' });
    const [, isFile, token = '', method, fileId] = match;
    if (decodeURIComponent(token) !== options.botToken) {
      return jsonReply(401, { ok: false, error_code: 401, description: 'Unauthorized' });
    }
    if (!isFile && method !== undefined) return answer(method, request);
    const file = isFile && fileId !== undefined ? files.byUniqueId(fileId) : null;
    if (!file) return jsonReply(404, { ok: false, error_code: 404, description: 'Not Found' });
    return { status: 200, contentType: 'application/octet-stream', body: file.bytes };
  };

  const server = await startLoopbackServer(handle, options.port);

  const repeat = async (userId: number): Promise<boolean> => {
    const again = await queue.repeat(userId);
    if (again && !again.isQueued) await post(again.update);
    return again !== null;
  };

  return {
    server,
    knobs,
    messages: async () => (await state.read()).messages.toReversed(),
    starsInvoices: async () => (await state.read()).invoices.toReversed(),
    payStars,
    postUpdate,
    initData: (user, startParameter) => signInitData(options.botToken, user, options.now(), startParameter),
    setBlocked: (messengerId, blocked) =>
      state.update((current) => {
        current.blocked = current.blocked.filter((id) => id !== messengerId);
        if (blocked) current.blocked.push(messengerId);
      }),
    setUnknown: (chatId) => state.update((current) => void current.unknown.push(chatId)),
    setPerson: (username, messengerId) =>
      state.update((current) => {
        current.people = { ...current.people, [username.toLowerCase()]: messengerId };
      }),
    setMembership: (chatId, userId, status) =>
      state.update((current) => {
        current.memberships = current.memberships.filter((entry) => entry.chatId !== chatId || entry.userId !== userId);
        current.memberships.push({ chatId, userId, status });
      }),
    conversations: createConversations({ state, files, bot: context.bot, now: options.now, postUpdate, payStars, repeat }),
    handle,
    endPoll: () => queue.end(),
    close: () => {
      queue.end();
      return server.close();
    },
  };
}
