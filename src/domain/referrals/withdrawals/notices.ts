import type { App } from '../../../core/app.ts';
import { formatPrice, rublesOf } from '../../../core/money.ts';
import { fullName } from '../../identity/rules.ts';
import { adminChat } from '../../messaging/admin-chat.ts';
import { notifyUser, recipientOf } from '../../messaging/notify-user.ts';
import { sendMessage } from '../../messaging/send-message.ts';
import { htmlText, shorten, type TextKey, type TextParams, text } from '../../messaging/texts.ts';
import { takeBackTitles } from '../take-back-rewards.ts';
import type { WithdrawalRequest } from './repo.ts';
import type { RiskLevel } from './risk-rules.ts';
import type { Requester } from './sums-repo.ts';

/** Messages about withdrawals; all are queued in the caller's transaction. Everything that users wrote is escaped. */

const DETAILS_IN_NOTICE = 200;

const label = (t: App, kopeks: number) => formatPrice(kopeks, t.settings.get('PRICE_ROUNDING_ENABLED'));

/** Descriptions of what the end of a request that was not approved moves. */
export function endTexts(language: string | null, requestId: number) {
  const description = text(language, 'withdrawals.transaction', { request_id: requestId });
  return { description, debtTitles: takeBackTitles('transaction_debt') };
}

/** A new request, for the administrators' chat. */
export async function announceRequest(
  t: App,
  request: WithdrawalRequest,
  user: Requester,
  risk: { score: number; level: RiskLevel },
): Promise<void> {
  const language = t.settings.get('DEFAULT_LANGUAGE');
  await notifyAdmins(t, 'withdrawals.admin_request', request, user, {
    balance: label(t, user.balanceKopeks),
    details: shorten(request.paymentDetails ?? '—', DETAILS_IN_NOTICE),
    risk_score: risk.score,
    risk_level: text(language, `withdrawals.risk_${risk.level}` satisfies TextKey),
  });
}

/** One administrator has approved, and another one has to. */
export async function announceFirstApproval(t: App, request: WithdrawalRequest, user: Requester, adminId: number): Promise<void> {
  await notifyAdmins(t, 'withdrawals.admin_second_approval', request, user, { admin_id: adminId });
}

async function notifyAdmins(
  t: App,
  key: TextKey,
  request: WithdrawalRequest,
  user: Requester,
  params: TextParams,
): Promise<void> {
  const chat = adminChat(t, 'REFERRAL_WITHDRAWAL_NOTIFICATIONS_TOPIC_ID');
  if (chat === null) return;
  const html = htmlText(t.settings.get('DEFAULT_LANGUAGE'), key, {
    request_id: request.id,
    name: shorten(fullName(user), 100),
    contact: user.messengerId ?? user.email ?? `#${user.id}`,
    amount: label(t, request.amountKopeks),
    ...params,
  });
  await sendMessage(t, { ...chat, html });
}

/** The decision, for the user: in the messenger, else by mail. The comment of an approval, the reason of a rejection. */
export async function announceDecision(
  t: App,
  user: Requester,
  decision: { status: 'approved' | 'rejected'; amountKopeks: number; comment: string | null },
): Promise<void> {
  const { status, amountKopeks, comment } = decision;
  const { language } = user;
  const amount = label(t, amountKopeks);
  const write = (key: TextKey, params: TextParams) => htmlText(language, key, params);
  const html =
    write(`withdrawals.message_${status}`, { amount }) +
    (comment === null ? '' : write(`withdrawals.message_${status}_comment`, { comment }));
  const context = { amount_kopeks: amountKopeks, amount_rubles: rublesOf(amountKopeks), formatted_amount: amount, comment };
  await notifyUser(t, recipientOf(user), {
    html,
    mail: `withdrawal_${status}`,
    mailParams: { amount_rubles: context.amount_rubles, formatted_amount: amount, comment: comment ?? '—' },
    event: `notification.withdrawal_${status}`,
    context,
  });
}
