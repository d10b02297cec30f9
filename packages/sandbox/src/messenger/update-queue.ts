import { setTimeout as delay } from 'node:timers/promises';
import type { StoredState } from '../stored-state.ts';
import { BotApiRefusal } from './bot-api-refusal.ts';
import type { MessengerState, QueuedUpdate, SandboxUpdate } from './messenger-state.ts';

const MAX_QUEUED = 500;
/** Updates that can be delivered once more. */
const MAX_RECENT = 50;
const MAX_SECONDS = 50;
/** Kinds that the messenger delivers only to a bot that names them. */
const ON_REQUEST = ['chat_member', 'message_reaction', 'message_reaction_count'];

/**
 * Updates of a bot without a webhook: they wait in the stored state until the bot confirms them by a higher offset.
 * @param hasWebhook whether a webhook receives the updates now
 */
export class UpdateQueue {
  readonly #state: StoredState<MessengerState>;
  readonly #hasWebhook: (state: MessengerState) => boolean;
  #added = Promise.withResolvers<void>();
  #poll: AbortController | null = null;

  constructor(state: StoredState<MessengerState>, hasWebhook: (state: MessengerState) => boolean) {
    this.#state = state;
    this.#hasWebhook = hasWebhook;
  }

  /** Stores an update with its id, and for a polling bot in the queue. @returns the update, and whether it is in the queue */
  async add(content: Record<string, unknown>): Promise<{ update: SandboxUpdate; isQueued: boolean }> {
    const added = await this.#state.update((current) => {
      const update = { update_id: current.nextId++, ...content };
      current.recent = [...(current.recent ?? []), update].slice(-MAX_RECENT);
      const isQueued = current.isPolled === true;
      if (isQueued && isAllowed(current.allowedUpdates ?? [], content)) enqueue(current, { update });
      return { update, isQueued };
    });
    this.#wake();
    return added;
  }

  /** Delivers the latest update of a user again under the same id, as the messenger does when it was not confirmed. */
  async repeat(userId: number): Promise<{ update: SandboxUpdate; isQueued: boolean } | null> {
    const again = await this.#state.update((current) => {
      const update = current.recent?.findLast((one) => senderOf(one) === userId);
      if (!update) return null;
      const isQueued = current.isPolled === true;
      if (isQueued) enqueue(current, { update, isRepeat: true });
      return { update, isQueued };
    });
    this.#wake();
    return again;
  }

  /** @throws BotApiRefusal 409 with a webhook, and to the poll that waits when another one begins */
  async poll(payload: Record<string, unknown>): Promise<SandboxUpdate[]> {
    const { offset = 0, limit = 100, timeout = 0 } = payload as { offset?: number; limit?: number; timeout?: number };
    if (![offset, limit, timeout].every(Number.isSafeInteger) || limit < 1 || limit > 100 || timeout < 0) {
      throw new BotApiRefusal(400, 'Bad Request: invalid parameters of getUpdates');
    }
    this.#poll?.abort(new BotApiRefusal(409, 'Conflict: terminated by other getUpdates request'));
    const poll = new AbortController();
    this.#poll = poll;
    const end = performance.now() + Math.min(timeout, MAX_SECONDS) * 1_000;
    while (true) {
      const added = this.#added.promise;
      const updates = await this.#confirmAndRead(payload, offset, limit);
      const left = end - performance.now();
      if (updates.length > 0 || left <= 0) return updates;
      const timer = new AbortController();
      const late = delay(left, undefined, { signal: AbortSignal.any([poll.signal, timer.signal]) });
      await Promise.race([added, late.catch(() => undefined)]);
      timer.abort();
      if (poll.signal.reason instanceof BotApiRefusal) throw poll.signal.reason;
      if (poll.signal.aborted) return [];
    }
  }

  /** Ends the poll that waits, with an empty answer. */
  end(): void {
    this.#poll?.abort();
  }

  /** Changes who receives the updates. @returns the updates that wait for a webhook that is set now */
  async receiveBy(
    webhook: MessengerState['webhook'],
    payload: Record<string, unknown>,
    isPolled: boolean,
  ): Promise<SandboxUpdate[]> {
    return this.#state.update((current) => {
      const waiting = payload.drop_pending_updates === true ? [] : (current.queue ?? []);
      current.webhook = webhook;
      current.isPolled = isPolled;
      current.queue = isPolled ? waiting : [];
      rememberAllowed(current, payload);
      return isPolled ? [] : waiting.map(({ update }) => update);
    });
  }

  #confirmAndRead(payload: Record<string, unknown>, offset: number, limit: number): Promise<SandboxUpdate[]> {
    return this.#state.update((current) => {
      if (this.#hasWebhook(current)) {
        const text =
          "Conflict: can't use getUpdates method while webhook is active; use deleteWebhook to delete the webhook first";
        throw new BotApiRefusal(409, text);
      }
      rememberAllowed(current, payload);
      current.isPolled = true;
      const waiting = current.queue ?? [];
      const isUnconfirmed = ({ update, isRepeat }: QueuedUpdate) => isRepeat === true || update.update_id >= offset;
      const left = offset < 0 ? waiting.slice(offset) : waiting.filter(isUnconfirmed);
      const read = left.slice(0, limit);
      // A repeat is delivered once, whatever the offset: the bot confirmed its first delivery.
      current.queue = [...read.filter((one) => !one.isRepeat), ...left.slice(limit)];
      return read.map(({ update }) => update);
    });
  }

  #wake(): void {
    this.#added.resolve();
    this.#added = Promise.withResolvers<void>();
  }
}

function enqueue(state: MessengerState, update: QueuedUpdate): void {
  state.queue = [...(state.queue ?? []), update].slice(-MAX_QUEUED);
}

function rememberAllowed(state: MessengerState, { allowed_updates: allowed }: Record<string, unknown>): void {
  if (Array.isArray(allowed)) state.allowedUpdates = allowed.map(String);
}

function isAllowed(allowed: readonly string[], content: Record<string, unknown>): boolean {
  const kinds = Object.keys(content);
  return kinds.some((kind) => (allowed.length > 0 ? allowed.includes(kind) : !ON_REQUEST.includes(kind)));
}

function senderOf(update: SandboxUpdate): number | undefined {
  const parts = Object.values(update) as { from?: { id?: number } }[];
  return parts.find((part) => typeof part === 'object')?.from?.id;
}
