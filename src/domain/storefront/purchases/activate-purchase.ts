import type { UserActor } from '../../../core/actor.ts';
import type { App } from '../../../core/app.ts';
import { inTransaction } from '../../../core/db/transaction.ts';
import { isAppError, rethrowUnavailable } from '../../../core/errors.ts';
import { findUserByMessengerId } from '../../identity/find-user.ts';
import type { MessengerUpdate } from '../../messaging/ports.ts';
import { sendMessage } from '../../messaging/send-message.ts';
import { text } from '../../messaging/texts.ts';
import { awaitPush } from '../../subscription-state/provision-state.ts';
import { lockUserSubscription, readUserSubscription } from '../../subscriptions/manual/manual-changes.ts';
import {
  activationFailed,
  linkedUserGone,
  notPendingActivation,
  notTheRecipient,
  noUserLinked,
  purchaseNotFound,
  signInToActivate,
  tariffGone,
} from './errors.ts';
import { deliverableTariff, deliverWaiting, fail, grant, isGivable, lockWithPayment } from './fulfil-purchase.ts';
import { findByToken, findPurchase, markActivationRequested } from './repo.ts';
import { isLive, isRecipientsToken, isToken, nextAttempt } from './rules.ts';
import type { GuestPurchase } from './types.ts';

/**
 * Activates a purchase by its token (spec 03 sections 7.2 and 8.3): the new subscription replaces the current one. Where that one
 * still runs, the recipient has to consent: signed in, or by a token that says so (H22, spec 10 U4). A repeated call changes nothing.
 * @param actor the signed-in user; null when no user is signed in
 * @throws AppError 404 'Purchase not found' | 400 'Purchase is not pending activation' | 401 or 403 when consent is missing | 500 with
 * the texts of the specification
 */
export async function activateByToken(app: App, token: string, actor: UserActor | null): Promise<void> {
  const purchase = isToken(token) ? await findByToken(app.db, token) : null;
  if (!purchase) throw purchaseNotFound();
  await activate(app, purchase, actor, isRecipientsToken(purchase, token));
  if (purchase.userId !== null && purchase.status !== 'delivered') await awaitDelivery(app, purchase.userId);
}

/** Waits briefly for the panel's links, with which the purchases of a user count as delivered (spec 08 P14). Not in a transaction. */
export async function awaitDelivery(app: App, userId: number): Promise<void> {
  if (app.env.provisionAnswerWaitMs === 0) return;
  const subscription = (await readUserSubscription(app, userId))?.subscription;
  const pushed = subscription && (await awaitPush(app, subscription.id));
  if (pushed?.subscriptionUrl) await deliverWaiting(app, { userId });
}

/**
 * The same by id, for the button in the messenger, which only the recipient may use.
 * @throws AppError as `activateByToken`
 */
async function activateById(app: App, id: number, actor: UserActor): Promise<void> {
  const purchase = await findPurchase(app.db, id);
  if (!purchase || purchase.userId !== actor.userId) throw purchaseNotFound();
  await activate(app, purchase, actor, false);
}

/** @param hasToken the caller has a token by which the recipient consents */
async function activate(app: App, purchase: GuestPurchase, actor: UserActor | null, hasToken: boolean): Promise<void> {
  if (purchase.status === 'delivered') return;
  if (purchase.status !== 'pending_activation') throw notPendingActivation();
  // In progress: only the panel's link is missing.
  if (purchase.grantedAt !== null) return;
  const { userId } = purchase;
  if (userId === null) throw noUserLinked();
  const current = (await readUserSubscription(app, userId))?.subscription ?? null;
  const isSigned = hasToken || actor?.userId === userId;
  if (!isSigned && isLive(current, app.clock.now())) throw actor === null ? signInToActivate() : notTheRecipient();
  const now = app.clock.now();
  // A transaction of its own: if the next one fails, the request is stored and the job repeats it (spec 03 H6).
  await markActivationRequested(app.db, purchase.id, isSigned, nextAttempt(0, now), now);
  await carryOutActivation(app, purchase.id, isSigned);
}

/**
 * `activateRequested` for a caller who waits for it: any failure is a refusal, and the job repeats what failed.
 * @throws AppError as `activateRequested` | 500 'Activation failed, please try again'
 */
export async function carryOutActivation(app: App, purchaseId: number, isSigned: boolean): Promise<void> {
  try {
    await activateRequested(app, purchaseId, isSigned);
  } catch (error) {
    if (isAppError(error)) throw error;
    rethrowUnavailable(error);
    app.log.error({ err: error, purchaseId }, 'an activation failed');
    throw activationFailed(error);
  }
}

/**
 * Starts the subscription of a purchase whose activation was requested; also called by the job (spec 03 section 8.4). Of several
 * parallel calls one does it, the others find it done.
 * @param isSigned the recipient consented: signed in, or by a token
 * @throws AppError 401 a subscription runs by now and the recipient did not consent | 400 the payer has the money back, or is about to get
 * it | 500 `User not found`, `Tariff not found`
 */
export async function activateRequested(app: App, purchaseId: number, isSigned: boolean): Promise<void> {
  const seen = await findPurchase(app.db, purchaseId);
  const userId = seen?.userId;
  if (!seen || !userId) throw noUserLinked();
  const outcome = await inTransaction(app, async (t) => {
    const current = await lockUserSubscription(t, userId);
    if (current === undefined) throw linkedUserGone();
    const { purchase, returned } = await lockWithPayment(t, seen);
    if (purchase?.status !== 'pending_activation' || purchase.grantedAt !== null) return 'done';
    if (purchase.userId !== userId) throw new Error(`purchase ${purchaseId} belongs to another account now`);
    if (!isGivable(returned)) throw notPendingActivation();
    if (isLive(current, t.clock.now()) && !isSigned) throw signInToActivate();
    const tariff = await deliverableTariff(t, purchase);
    if (!tariff) {
      await fail(t, purchaseId, 'tariff_unavailable');
      return 'tariff_gone';
    }
    await grant(t, purchase, { userId, current, tariff });
    return 'done';
  });
  if (outcome === 'tariff_gone') throw tariffGone();
  await deliverWaiting(app, { userId });
}

const PRESS = /^gift_activate:(\d{1,9})$/;

/** Queues a pressed "activate" button; the job handles it after the messenger has its answer. Ignores other updates. */
export async function receiveGiftUpdate(app: App, update: MessengerUpdate): Promise<void> {
  const id = update.kind === 'callback' ? PRESS.exec(update.data)?.[1] : undefined;
  if (update.kind !== 'callback' || id === undefined) return;
  await app.jobs.send('gifts.press', {
    queryId: update.queryId,
    messengerId: update.fromMessengerId,
    purchaseId: Number(id),
  });
}

/**
 * Handles a queued press (job `gifts.press`): the messenger proves who pressed, so a press by the recipient is consent (spec 03
 * section 8.3). May run any number of times.
 */
export async function handleGiftPress(
  app: App,
  { queryId, messengerId, purchaseId }: { queryId: string; messengerId: number; purchaseId: number },
): Promise<void> {
  // Only ends the button's progress indicator. The messenger refuses a query that is too old, which changes nothing else.
  await app.ports.messenger
    .answerCallback(queryId)
    .catch((error) => app.log.debug({ err: error }, 'the callback of a pressed button was not answered'));
  const user = await findUserByMessengerId(app, messengerId);
  if (user?.status !== 'active') return;
  try {
    await activateById(app, purchaseId, { kind: 'user', userId: user.id });
    await sendMessage(app, { messengerId, html: text(user.language, 'gifts.activation_started') });
  } catch (error) {
    if (!isAppError(error)) throw error;
    await sendMessage(app, { messengerId, html: text(user.language, 'gifts.activation_refused') });
  }
}
