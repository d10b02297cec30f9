import type { App } from '../../core/app.ts';
import { text } from '../messaging/texts.ts';
import { methodDefaults } from './method-defaults.ts';
import { methodName } from './method-settings.ts';
import { isCheckable, shownStatus, statusText, webUrl } from './rules.ts';
import type { Payment, PaymentView } from './types.ts';

/** What answers show of the payer; null for people without an account. */
export interface Payer {
  messengerId: number | null;
  username: string | null;
  email: string | null;
}

/** A payment as answers show it, in the language of who reads it. */
export function viewPayment(app: App, payment: Payment & Payer, language: string): PaymentView {
  const { id, method, amountKopeks, isPaid, createdAt, expiresAt } = payment;
  const external = methodDefaults(method)?.identifiedBy === 'order' ? null : payment.externalId;
  const [emoji, ...words] = text(language, statusText(payment)).split(' ');
  return {
    ...{ id, method, amountKopeks, isPaid, createdAt, expiresAt },
    methodDisplay: methodName(app, method),
    identifier: external ?? payment.orderId,
    status: shownStatus(payment),
    statusEmoji: emoji!,
    statusText: words.join(' '),
    isCheckable: isCheckable(payment, app.ports.payments.byMethod(method) ?? null, app.clock.now()),
    paymentUrl: webUrl(payment.paymentUrl),
    userId: payment.userId,
    userMessengerId: payment.messengerId,
    userUsername: payment.username,
    userEmail: payment.email,
  };
}
