import type { PaymentPurpose } from '../payments/purpose-payment.ts';
import { guestPurchases } from './purchases/purpose.ts';

/** What invoices pay besides the balance: for callbacks, and wherever somebody asks a provider about any payment. */
export const INVOICE_PURPOSES: readonly PaymentPurpose[] = [guestPurchases];
