import { setTimeout as delay } from 'node:timers/promises';
import { type Bot, type Context, GrammyError, HttpError } from 'grammy';
import type { Update } from 'grammy/types';

const WAIT_SECONDS = 30;
/** How soon a new update is looked for while another one is being handled: `getUpdates` cannot wait then. */
const LOOK_AGAIN_MS = 250;
const PAUSE_MS = 3_000;

interface Options {
  allowedUpdates: readonly Exclude<keyof Update, 'update_id'>[];
  /** @throws Error that ends everything; the update is not confirmed */
  handle: (update: Update) => Promise<void>;
  /** No update is fetched after it; what has begun is brought to its end. */
  signal: AbortSignal;
}

/**
 * Fetches updates and handles those of different chats side by side, those of one chat one after the other. An update is confirmed when it and
 * all before it have been handled: what a bot that was killed had not handled comes again. @grammyjs/runner confirms what it fetches, so that a
 * payment in work would be lost.
 * @throws what `handle` throws, and GrammyError when the messenger refuses the bot
 */
export async function runSideBySide<C extends Context>(bot: Bot<C>, { allowedUpdates, handle, signal }: Options): Promise<void> {
  /** Fetched and not confirmed yet, in the order of the messenger. */
  const fetched = new Map<number, { isHandled: boolean }>();
  const latest = new Map<number, Promise<void>>();
  const running = new Set<Promise<void>>();
  const failures: unknown[] = [];
  let end = 0;

  const carryOut = async (update: Update, state: { isHandled: boolean }): Promise<void> => {
    // What comes after a failure is left to the next start.
    if (failures.length > 0) return;
    try {
      await handle(update);
      state.isHandled = true;
    } catch (error) {
      failures.push(error);
    }
  };
  const begin = (update: Update): void => {
    const state = { isHandled: false };
    fetched.set(update.update_id, state);
    end = Math.max(end, update.update_id + 1);
    const chat = chatOf(update);
    const before = latest.get(chat) ?? Promise.resolve();
    const work = before
      .then(() => carryOut(update, state))
      .finally(() => {
        running.delete(work);
        if (latest.get(chat) === work) latest.delete(chat);
      });
    latest.set(chat, work);
    running.add(work);
  };
  /** The first update that is not handled; those before it are confirmed. */
  const offset = (): number => {
    for (const [id, { isHandled }] of fetched) {
      if (!isHandled) return id;
      fetched.delete(id);
    }
    return end;
  };

  await bot.api.deleteWebhook();
  while (!signal.aborted && failures.length === 0) {
    const wait = running.size > 0 ? 0 : WAIT_SECONDS;
    const updates = await fetchUpdates(bot, { offset: offset(), timeout: wait, allowed_updates: allowedUpdates }, signal);
    const unknown = updates.filter(({ update_id: id }) => !fetched.has(id));
    for (const update of unknown) begin(update);
    if (unknown.length === 0 && running.size > 0) await Promise.race([...running, delay(LOOK_AGAIN_MS)]);
  }
  await Promise.all(running);
  if (failures.length > 0) throw failures[0];
  await bot.api.getUpdates({ offset: offset(), limit: 1, timeout: 0 });
}

type Fetch = Parameters<Bot['api']['getUpdates']>[0];
/** grammY has the type of a package, which the signals of Node fit but for its events. */
type Signal = Parameters<Bot['api']['getUpdates']>[1];

/** @returns nothing after a failure that may pass, and when the signal ends the waiting */
async function fetchUpdates<C extends Context>(bot: Bot<C>, request: Fetch, signal: AbortSignal): Promise<Update[]> {
  try {
    return await bot.api.getUpdates(request, signal as unknown as Signal);
  } catch (error) {
    if (signal.aborted) return [];
    const mayPass = error instanceof HttpError || (error instanceof GrammyError && ![401, 404, 409].includes(error.error_code));
    if (!mayPass) throw error;
    const seconds = error instanceof GrammyError ? error.parameters.retry_after : undefined;
    await delay(seconds === undefined ? PAUSE_MS : seconds * 1_000, undefined, { signal }).catch(() => undefined);
    return [];
  }
}

/** Updates without a chat, such as a pre-checkout, belong to the private chat of their sender, which has the same id. */
function chatOf({ update_id: _id, ...content }: Update): number {
  const [part] = Object.values(content) as {
    chat?: { id: number };
    message?: { chat?: { id: number } };
    from?: { id: number };
  }[];
  return part?.chat?.id ?? part?.message?.chat?.id ?? part?.from?.id ?? 0;
}
