import type { Message, Update, User, ChatMember as WireChatMember } from '@grammyjs/types';
import type { ChatMember, MessengerSender, MessengerUpdate, OtherCurrency } from '../../domain/messaging/ports.ts';

const STARS_CURRENCY = 'XTR';

/**
 * Converts a Bot API update into the domain's form; an update that the service does not use is `ignored`.
 * @returns null when the text is no update at all
 */
export function parseUpdate(text: string): MessengerUpdate | null {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return null;
  }
  if (typeof value !== 'object' || value === null || !('update_id' in value) || !Number.isSafeInteger(value.update_id))
    return null;
  const update = value as Update;
  try {
    return { updateId: update.update_id, ...commandOf(update) };
  } catch {
    // Not of the published types: it is acknowledged and skipped, because the messenger would repeat it for a day.
    return { updateId: update.update_id, kind: 'ignored' };
  }
}

/** Distributes `Omit` over the union, which keeps it a union. */
type WithoutId<T> = T extends MessengerUpdate ? Omit<T, 'updateId'> : never;
type Command = WithoutId<MessengerUpdate>;

const IGNORED: Command = { kind: 'ignored' };

function commandOf(update: Update): Command {
  if (update.pre_checkout_query) return preCheckout(update.pre_checkout_query);
  if (update.message) return messageCommand(update.message);
  if (update.callback_query) return callbackCommand(update.callback_query);
  const membership = update.chat_member ?? update.my_chat_member;
  if (!membership) return IGNORED;
  return {
    kind: 'membership',
    chatId: membership.chat.id,
    memberMessengerId: membership.new_chat_member.user.id,
    member: chatMember(membership.new_chat_member),
  };
}

function preCheckout(query: NonNullable<Update['pre_checkout_query']>): Command {
  if (!isAmount(query.total_amount)) return IGNORED;
  return {
    kind: 'pre_checkout',
    queryId: query.id,
    payerMessengerId: query.from.id,
    payload: query.invoice_payload,
    amountStars: query.total_amount,
    ...otherCurrency(query.currency),
  };
}

function messageCommand(message: NonNullable<Update['message']>): Command {
  if (message.successful_payment) return starsMovement('stars_paid', message.successful_payment, message);
  if (message.refunded_payment) return starsMovement('stars_refunded', message.refunded_payment, message);
  if (message.text === undefined || !message.from) return IGNORED;
  return {
    kind: 'message',
    chatId: message.chat.id,
    messageId: message.message_id,
    from: sender(message.from),
    text: message.text,
    startParameter: /^\/start(?:@\w+)?\s+(\S+)$/.exec(message.text)?.[1] ?? null,
  };
}

interface WirePayment {
  currency: string;
  total_amount: number;
  invoice_payload: string;
  telegram_payment_charge_id: string;
}

function starsMovement(kind: 'stars_paid' | 'stars_refunded', payment: WirePayment, message: Message): Command {
  const payerMessengerId = message.from?.id ?? message.chat.id;
  const { telegram_payment_charge_id: chargeId } = payment;
  if (!isAmount(payment.total_amount) || !chargeId) return IGNORED;
  const { invoice_payload: payload, total_amount: stars } = payment;
  return { kind, chargeId, payerMessengerId, payload, stars, ...otherCurrency(payment.currency) };
}

/** Money that is not Stars is reported too: it is refused before the payment, and after it an administrator has to know. */
function otherCurrency(currency: string): OtherCurrency {
  return currency === STARS_CURRENCY ? {} : { otherCurrency: String(currency).toUpperCase() };
}

function callbackCommand(query: NonNullable<Update['callback_query']>): Command {
  return {
    kind: 'callback',
    queryId: query.id,
    fromMessengerId: query.from.id,
    chatId: query.message?.chat.id ?? null,
    messageId: query.message?.message_id ?? null,
    data: query.data ?? '',
  };
}

function isAmount(amount: unknown): boolean {
  return Number.isSafeInteger(amount) && (amount as number) > 0;
}

function sender(user: User): MessengerSender {
  return {
    messengerId: user.id,
    username: user.username ?? null,
    firstName: user.first_name,
    lastName: user.last_name ?? null,
    languageCode: user.language_code ?? null,
  };
}

/** Membership in the domain's form; `restricted` has a flag of its own. */
export function chatMember(member: WireChatMember): ChatMember {
  const isMember = member.status === 'restricted' ? member.is_member : member.status !== 'left' && member.status !== 'kicked';
  return { status: member.status, isMember };
}
