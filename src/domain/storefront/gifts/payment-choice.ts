import type { App } from '../../../core/app.ts';
import { aboveMaximum, belowMinimum, methodNotOffered } from '../../payments/errors.ts';
import { listPaymentMethodsFor } from '../../payments/list-methods.ts';
import { type MethodDefaults, methodDefaults } from '../../payments/method-defaults.ts';
import { methodOptions } from '../../payments/method-settings.ts';
import type { OfferedMethod } from '../../payments/types.ts';

/** Has donations without an invoice, which cannot be tied to a purchase. */
const NOT_FOR_GIFTS: ReadonlySet<string> = new Set(['tribute']);

/** The methods by which a user may pay for a gift, whether or not it would be the first payment (spec 03 section 5.1). */
export async function listGiftMethods(app: App, userId: number): Promise<OfferedMethod[]> {
  const methods = await listPaymentMethodsFor(app, userId, { ignoreFirstTopupFilter: true });
  return methods.filter(({ id }) => !NOT_FOR_GIFTS.has(id));
}

export interface GiftPayment {
  method: MethodDefaults;
  /** Null = the provider has one way only. */
  option: string | null;
}

/**
 * The payment of a gift, checked like a top-up against what the user is offered (spec 03 H14).
 * @param asked id of a method, optionally followed by a sub-option (`yookassa_sbp`)
 * @throws AppError 400 'Invalid or unavailable payment method' | 400 with the limit of the method
 */
export async function chooseGiftPayment(app: App, userId: number, asked: string, amountKopeks: number): Promise<GiftPayment> {
  const chosen = choose(app, await listGiftMethods(app, userId), asked);
  if (!chosen) throw methodNotOffered();
  const { offered, ...payment } = chosen;
  if (amountKopeks < offered.minAmountKopeks) throw belowMinimum(offered.minAmountKopeks);
  if (amountKopeks > offered.maxAmountKopeks) throw aboveMaximum(offered.maxAmountKopeks);
  return payment;
}

function choose(app: App, methods: readonly OfferedMethod[], asked: string): (GiftPayment & { offered: OfferedMethod }) | null {
  // The longest id first, because an id may begin with another one.
  for (const offered of [...methods].sort((a, b) => b.id.length - a.id.length)) {
    const method = methodDefaults(offered.id);
    if (!method) continue;
    const shown = offered.options?.map(({ id }) => id) ?? methodOptions(app, method);
    if (asked === offered.id) return { offered, method, option: method.fixedOption ?? shown[0] ?? null };
    const option = asked.startsWith(`${offered.id}_`) ? asked.slice(offered.id.length + 1) : null;
    if (option !== null && !method.fixedOption && shown.includes(option)) return { offered, method, option };
  }
  return null;
}
