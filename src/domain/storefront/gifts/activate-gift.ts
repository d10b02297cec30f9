import type { UserActor } from '../../../core/actor.ts';
import type { App } from '../../../core/app.ts';
import { addMs, DAY_MS, HOUR_MS, MINUTE_MS } from '../../../core/clock.ts';
import { isAppError } from '../../../core/errors.ts';
import { hitsSoFar, isWithinLimit, limitOrRefuse } from '../../../core/rate-limit.ts';
import { userNotFound } from '../../identity/errors.ts';
import { findUserByMessengerId } from '../../identity/find-user.ts';
import { isAnswered, runOnceAround } from '../../ledger/run-once.ts';
import type { MessengerUpdate } from '../../messaging/ports.ts';
import { sendMessage } from '../../messaging/send-message.ts';
import { htmlText } from '../../messaging/texts.ts';
import { lockUserSubscription } from '../../subscriptions/manual/manual-changes.ts';
import { awaitDelivery, carryOutActivation } from '../purchases/activate-purchase.ts';
import { isGivable, lockWithPayment } from '../purchases/fulfil-purchase.ts';
import { findByCode, readSurroundings } from '../purchases/repo.ts';
import { isCode, nextAttempt } from '../purchases/rules.ts';
import { codeTooShort, giftNotFound, giftOfBuyer, notClaimable, tooManyFailures } from './errors.ts';
import { linkRecipient } from './repo.ts';
import { claimVerdict, MIN_CODE_LENGTH, readGiftCode } from './rules.ts';

const CALLS_A_MINUTE = 10;
/** Unknown codes in a window that block a user, and an address, until its end: an address may be shared by many users. */
const FAILURE_WINDOW_SECONDS = 3_600;
const FAILURES_OF_USER = 20;
const FAILURES_OF_ADDRESS = 100;

export interface ActivatedGift {
  tariffName: string | null;
  periodDays: number;
}

interface Claimed extends ActivatedGift {
  purchaseId: number;
  userId: number;
  /** What is left to do. */
  rest: 'activate' | 'wait' | 'nothing';
}

/**
 * Activates a gift by its code (spec 03 section 9). The subscription of the caller is replaced, as the caller, signed in, asks for (spec 03
 * H22). The gift is linked to the caller in a transaction of its own, under the locks of user and gift: of parallel callers one gets it,
 * and an activation that fails afterwards is repeated by the job. Then the call waits briefly for the panel's link, outside of transactions
 * (08 P14).
 * @param caller `idempotencyKey`: a repeat gets the first answer and does not count as an attempt; `ip`: null = unknown
 * @throws AppError 429 | 400 'Code too short' | 404 'Gift not found', also for the gift of somebody else | 400 'Cannot activate your own
 * gift', 'This gift cannot be activated' | 500 of the activation; 409 and 422 of the key
 */
export async function activateGift(
  app: App,
  actor: UserActor,
  input: { code: string },
  caller: { idempotencyKey: string | null; ip: string | null },
): Promise<ActivatedGift> {
  const code = readGiftCode(input.code);
  const isRepeat = await isAnswered(app, actor, caller.idempotencyKey);
  if (!isRepeat) await limitTries(app, actor, caller.ip);
  if (code.length < MIN_CODE_LENGTH) throw codeTooShort();
  try {
    return await runOnceAround(
      app,
      actor,
      { key: caller.idempotencyKey, operation: 'gift.activate', input: { code } },
      (t) => claim(t, actor.userId, code),
      (claimed) => finish(app, claimed),
    );
  } catch (error) {
    if (isAppError(error) && error.code === giftNotFound().code) await countFailure(app, actor, caller.ip);
    throw error;
  }
}

const userKey = ({ userId }: UserActor) => `gift:failure:user:${userId}`;
const addressKey = (ip: string) => `gift:failure:ip:${ip}`;

/** @throws AppError 429 'Too many requests' */
async function limitTries(app: App, actor: UserActor, ip: string | null): Promise<void> {
  await limitOrRefuse(app, `gift:activate:user:${actor.userId}`, CALLS_A_MINUTE, 60);
  const ofUser = await hitsSoFar(app, userKey(actor), FAILURE_WINDOW_SECONDS);
  const ofAddress = ip === null ? 0 : await hitsSoFar(app, addressKey(ip), FAILURE_WINDOW_SECONDS);
  if (ofUser >= FAILURES_OF_USER || ofAddress >= FAILURES_OF_ADDRESS) throw tooManyFailures(FAILURE_WINDOW_SECONDS);
}

/** Counted outside of the refused transaction, which leaves nothing. Calls at once are bounded by the limit of a minute. */
async function countFailure(app: App, actor: UserActor, ip: string | null): Promise<void> {
  await isWithinLimit(app, userKey(actor), FAILURES_OF_USER, FAILURE_WINDOW_SECONDS);
  if (ip !== null) await isWithinLimit(app, addressKey(ip), FAILURES_OF_ADDRESS, FAILURE_WINDOW_SECONDS);
}

async function claim(t: App, userId: number, code: string): Promise<Claimed> {
  if ((await lockUserSubscription(t, userId)) === undefined) throw userNotFound();
  const found = isCode(code) ? await findByCode(t.db, code) : null;
  const { purchase: gift, returned } = found ? await lockWithPayment(t, found) : { purchase: null, returned: 'none' as const };
  if (!gift) throw giftNotFound();
  const verdict = claimVerdict(gift, userId, isGivable(returned));
  if (verdict === 'not_found') throw giftNotFound();
  if (verdict === 'own') throw giftOfBuyer();
  if (verdict === 'not_claimable') throw notClaimable();
  const now = t.clock.now();
  if (verdict === 'claim' && !(await linkRecipient(t.db, gift.id, userId, nextAttempt(0, now), now))) {
    throw new Error(`gift ${gift.id} changed under its lock`);
  }
  const { tariffName } = await readSurroundings(t.db, gift.id);
  const rest = verdict === 'claim' ? 'activate' : gift.status === 'delivered' ? 'nothing' : 'wait';
  return { purchaseId: gift.id, userId, rest, tariffName, periodDays: gift.order.periodDays };
}

async function finish(app: App, { purchaseId, userId, rest, tariffName, periodDays }: Claimed): Promise<ActivatedGift> {
  if (rest === 'activate') await carryOutActivation(app, purchaseId, true);
  if (rest !== 'nothing') await awaitDelivery(app, userId);
  return { tariffName, periodDays };
}

const START = /^GIFT[-_]([\w-]{8,58})$/i;
/** A code waits this long for the account of the person who followed its link. */
const WAIT_MS = 3 * DAY_MS;

/** A followed link to the bot with a gift, as the queue has it. */
export interface GiftStart {
  messengerId: number;
  /** As the messenger names it; null = unknown. */
  languageCode: string | null;
  code: string;
  /** ISO 8601. */
  startedAt: string;
}

/** Queues a followed link `GIFT_{code}`; the job handles it after the messenger has its answer. Ignores other updates. */
export async function receiveGiftStart(app: App, update: MessengerUpdate): Promise<void> {
  const code = update.kind === 'message' ? START.exec(update.startParameter ?? '')?.[1] : undefined;
  // In a group every member could see the answer.
  if (update.kind !== 'message' || code === undefined || update.chatId !== update.from.messengerId) return;
  const { messengerId, languageCode } = update.from;
  await app.jobs.send('gifts.start', { messengerId, languageCode, code, startedAt: app.clock.now().toISOString() });
}

/**
 * Activates the gift of a followed link (job `gifts.start`, spec 03 section 9) under the same rules as in the cabinet: the messenger proves who
 * followed it. Without an account the code waits for the registration, for three days: the job sends itself again. May run any number of times.
 */
export async function handleGiftStart(app: App, start: GiftStart): Promise<void> {
  const { messengerId, languageCode, code } = start;
  const user = await findUserByMessengerId(app, messengerId);
  if (!user) return waitForAccount(app, start);
  if (user.status !== 'active') return;
  const reply = (key: 'gifts.activation_started' | 'gifts.activation_refused') =>
    sendMessage(app, { messengerId, html: htmlText(user.language ?? languageCode, key) });
  try {
    await activateGift(app, { kind: 'user', userId: user.id }, { code }, { idempotencyKey: null, ip: null });
  } catch (error) {
    if (!isAppError(error)) throw error;
    return reply('gifts.activation_refused');
  }
  await reply('gifts.activation_started');
}

async function waitForAccount(app: App, start: GiftStart): Promise<void> {
  const now = app.clock.now();
  const waited = now.getTime() - new Date(start.startedAt).getTime();
  if (waited > WAIT_MS) return;
  if (waited < MINUTE_MS) {
    await sendMessage(app, { messengerId: start.messengerId, html: htmlText(start.languageCode, 'gifts.start_register') });
  }
  // As long again as it has waited: soon after the link, when most people register, and rarely later.
  const pause = Math.min(HOUR_MS, Math.max(MINUTE_MS, waited));
  await app.jobs.send('gifts.start', start, { startAfter: addMs(now, pause) });
}
