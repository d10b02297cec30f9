import { z } from 'zod';
import { addMs, DAY_MS, HOUR_MS, SECOND_MS } from '../../../core/clock.ts';
import type { ListedReceipt, ReceiptDraft } from '../../../domain/receipts/ports.ts';
import { rublesText } from '../../payments/wire/money.ts';

/** The bodies of the tax service's own web client (03a section 15): an unofficial interface without a published contract. */

/** Moscow has had no daylight saving time since 2014. */
const MOSCOW_OFFSET_MS = 3 * HOUR_MS;
/** Of one page of the list. */
export const PAGE_SIZE = 50;

/** A timestamp as the local time of Moscow with its offset, without fractions: the day and the month of the tax are those of Moscow. */
export function moscowTime(timestamp: Date): string {
  const whole = new Date(Math.floor(timestamp.getTime() / SECOND_MS) * SECOND_MS);
  return `${addMs(whole, MOSCOW_OFFSET_MS).toISOString().slice(0, 19)}+03:00`;
}

/** `deviceInfo` of every sign-in. */
export function deviceInfo(deviceId: string, userAgent: string) {
  return { sourceDeviceId: deviceId, sourceType: 'WEB', appVersion: '1.0.0', metaDetails: { userAgent } };
}

/** The amounts of an income: a JSON number for the service, a text for the total. A double writes hundredths of this size exactly. */
export function incomeAmounts(kopeks: number): { amount: number; totalAmount: string } {
  const totalAmount = rublesText(kopeks);
  return { amount: Number(totalAmount), totalAmount };
}

/** The body of `POST /income`. `CASH` is the only type of payment that is known to work, for cards too. */
export function incomeBody({ name, amountKopeks, operationAt }: ReceiptDraft, now: Date) {
  const { amount, totalAmount } = incomeAmounts(amountKopeks);
  return {
    operationTime: moscowTime(operationAt),
    requestTime: moscowTime(now),
    services: [{ name, amount, quantity: 1 }],
    totalAmount,
    client: { contactPhone: null, displayName: null, incomeType: 'FROM_INDIVIDUAL', inn: null },
    paymentType: 'CASH',
    ignoreMaxTotalIncomeRestriction: false,
  };
}

/** The body of `POST /cancel`. */
export function cancelBody(uuid: string, now: Date) {
  const time = moscowTime(now);
  return { operationTime: time, requestTime: time, comment: 'Возврат средств', receiptUuid: uuid, partnerCode: null };
}

/** The query of `GET /incomes` for operations within a day of a given time. */
export function incomesQuery(operationAt: Date, offset: number): string {
  return new URLSearchParams({
    from: moscowTime(addMs(operationAt, -DAY_MS)),
    to: moscowTime(addMs(operationAt, DAY_MS)),
    offset: String(offset),
    limit: String(PAGE_SIZE),
    sortBy: 'operation_time:desc',
  }).toString();
}

/** Answers; fields that are not used are left out. */
export const SignedIn = z.object({
  token: z.string().min(1),
  tokenExpireIn: z.string().nullish(),
  refreshToken: z.string().min(1).nullish(),
});
export const Income = z.object({ approvedReceiptUuid: z.string().min(1).max(64) });
export const Cancelled = z.object({ incomeInfo: z.looseObject({}) });
export const Refusal = z.object({ code: z.string().nullish(), message: z.string().nullish() });
const ListedIncome = z.object({
  approvedReceiptUuid: z.string().min(1).max(64),
  name: z.string().nullish(),
  services: z.array(z.object({ name: z.string().nullish() })).nullish(),
  cancellationInfo: z.unknown().optional(),
});
export const Incomes = z.object({ content: z.array(ListedIncome) });

/** An income of the list as the domain sees it. The name of an income with one service is that of the service. */
export function listedReceipt({
  approvedReceiptUuid,
  name,
  services,
  cancellationInfo,
}: z.infer<typeof ListedIncome>): ListedReceipt {
  return { uuid: approvedReceiptUuid, name: name || services?.[0]?.name || '', isCancelled: cancellationInfo != null };
}
