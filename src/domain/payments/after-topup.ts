import type { App } from '../../core/app.ts';
import { inTransaction } from '../../core/db/transaction.ts';
import { formatPrice, rublesOf } from '../../core/money.ts';
import { adminChat } from '../messaging/admin-chat.ts';
import { MessengerError } from '../messaging/ports.ts';
import { sendMail } from '../messaging/send-mail.ts';
import { sendMessage } from '../messaging/send-message.ts';
import { htmlText } from '../messaging/texts.ts';
import { renewEnded } from '../subscriptions/autopay/renew-due.ts';
import { spendTopup } from '../subscriptions/spend-topup.ts';
import { type CreditedTopup, findCreditedTopup, markStepDone } from './credit-repo.ts';
import { methodName } from './payment-methods.ts';

interface Step {
  name: string;
  /** @param claim marks the step done inside a transaction; false = it was done before, so the caller must not do it again */
  run(app: App, topup: CreditedTopup, claim: (t: App) => Promise<boolean>): Promise<void>;
}

const QUEUE_RECEIPT: Step = {
  name: 'receipt',
  run: async (app, { id }) => {
    if (app.settings.get('NALOGO_ENABLED')) await app.jobs.send('receipts.queue', { paymentId: id });
  },
};

const NOTIFY_ADMINS: Step = { name: 'notify_admins', run: notifyAdminsOfTopup };

/**
 * What follows a credit, in order (spec 03 section 2.2, steps 5 and 6). A step must be safe to run again after a crash; one that moves
 * money marks itself done in the same transaction. Purchases from the new balance come last. The names are stored with payments.
 */
const STEPS: readonly Step[] = [
  QUEUE_RECEIPT,
  NOTIFY_ADMINS,
  { name: 'tell_payer', run: notifyPayer },
  {
    name: 'spend_topup',
    run: async (app, topup, claim) => void (topup.userStatus === 'active' && (await spendTopup(app, topup.userId, claim))),
  },
];

/**
 * A charge of a saved card is part of a renewal, which has its own messages, and buys no saved order. A subscription
 * that runs is renewed by the autopay job; the job no longer takes one that ended longer ago.
 */
const CARD_STEPS: readonly Step[] = [
  QUEUE_RECEIPT,
  {
    name: 'renew_ended',
    run: async (app, topup, claim) => void (topup.userStatus === 'active' && (await renewEnded(app, topup.userId, claim))),
  },
];

/**
 * Runs the steps that are not done yet (queue `payments.after-topup`). They are independent: a failure neither stops the other steps nor
 * affects the credit, and the next run of the job repeats only the failed step.
 */
export async function runAfterTopup(app: App, { paymentId }: { paymentId: number }): Promise<void> {
  const topup = await findCreditedTopup(app.db, paymentId);
  if (!topup) return;
  const failures: unknown[] = [];
  for (const step of topup.purpose === 'recurrent_topup' ? CARD_STEPS : STEPS) {
    if (topup.doneSteps.includes(step.name)) continue;
    try {
      await step.run(app, topup, (t) => markStepDone(t.db, paymentId, step.name));
      await markStepDone(app.db, paymentId, step.name);
    } catch (error) {
      // Any failure: they are thrown together, and the job repeats the steps that failed.
      app.log.warn({ err: error, paymentId, step: step.name }, 'a step after a top-up failed');
      failures.push(error);
    }
  }
  if (failures.length > 0) throw new AggregateError(failures, `${failures.length} steps after top-up ${paymentId} failed`);
}

/** The message and the mark of the step are one transaction: of two runs at once, one sends it. */
async function notifyAdminsOfTopup(app: App, topup: CreditedTopup, claim: (t: App) => Promise<boolean>): Promise<void> {
  const chat = adminChat(app, 'ADMIN_NOTIFICATIONS_BALANCE_TOPIC_ID');
  if (chat === null) return;
  await inTransaction(app, async (t) => {
    if (!(await claim(t))) return;
    const html = htmlText(t.settings.get('DEFAULT_LANGUAGE'), 'payments.admin_topup', {
      user: `#${topup.userId} (${topup.messengerId ?? topup.verifiedEmail ?? '—'})`,
      amount: formatPrice(topup.amountKopeks, false),
      balance: formatPrice(topup.balanceKopeks, false),
      method: methodName(t, topup.method),
      transaction_id: topup.transactionId,
    });
    await sendMessage(t, { ...chat, html });
  });
}

/** Notifies in the messenger if the payer has one, else by mail to a verified address. */
async function notifyPayer(app: App, topup: CreditedTopup): Promise<void> {
  if (topup.userStatus !== 'active') return;
  const amount = formatPrice(topup.amountKopeks, false);
  const balance = formatPrice(topup.balanceKopeks, false);
  if (topup.messengerId !== null) {
    const values = { amount, balance, method: methodName(app, topup.method), transaction_id: topup.transactionId };
    await notifyInMessenger(app, topup.messengerId, htmlText(topup.language, 'messages.topup_received', values));
  } else if (topup.verifiedEmail !== null) {
    const { verifiedEmail, language } = topup;
    await inTransaction(app, (t) =>
      sendMail(t, {
        to: verifiedEmail,
        language,
        type: 'balance_topup',
        params: {
          formatted_amount: amount,
          formatted_balance: balance,
          amount_rubles: rublesOf(topup.amountKopeks),
          new_balance_rubles: rublesOf(topup.balanceKopeks),
        },
      }),
    );
  }
}

/** A payer who cannot be reached is not a failure; an unavailable messenger is. */
async function notifyInMessenger(app: App, messengerId: number, html: string): Promise<void> {
  if (!app.ports.messenger.isConfigured()) return;
  try {
    await app.ports.messenger.sendMessage(messengerId, html);
  } catch (error) {
    const kind = error instanceof MessengerError ? error.failure.kind : 'unavailable';
    if (kind === 'rate_limited' || kind === 'unavailable') throw error;
  }
}
