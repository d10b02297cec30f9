import { expect, TestRunner } from 'vitest';
import type { InvoiceAction } from '../../../packages/sandbox/src/payments/invoice.ts';
import type { CaseKind } from '../../../src/domain/payments/types.ts';
import type { PreparedInvoice, ProviderFixture } from './provider-fixture.ts';

/** A callback as it is on the wire. */
export interface RawCallback {
  method?: string;
  /** With the callback path of the provider. */
  path: string;
  headers: Readonly<Record<string, string>>;
  body: string | Buffer;
  /** Address of the sender; default: loopback, from which the fake posts. */
  ip?: string;
}

/** What the twelve callbacks of 03a section 0.10 are about, with the hazards of spec 03 section 11 that they try. */
export const FORGERIES = {
  F1: 'wrong signature (spec 03 H1, H9)',
  F2: 'missing signature (spec 03 H1, H8)',
  F3: 'another merchant (spec 03 H18)',
  F4: 'a lower amount (spec 03 H10)',
  F5: 'another currency (spec 03 H8, H10)',
  F6: 'a replay of a credited callback (spec 03 H8)',
  F7: 'an unknown order (spec 03 H1)',
  F8: 'canceled after paid (spec 03 H1)',
  F9: 'a body of 10 MiB',
  F10: 'a wrong content type',
  F11: 'an address outside the list',
  F12: 'a status that is not final',
} as const;

export type ForgeryId = keyof typeof FORGERIES;

export interface ForgeryExpectation {
  /** Status of the answer. */
  status: number;
  /** The answer itself, where the provider needs an exact one. */
  body?: string;
  /** The case that an administrator gets; default none. */
  opens?: CaseKind;
}

/** One callback of the table, or why the provider has none of the kind (as 03a says). */
export type Forgery =
  | { notApplicable: string }
  | (ForgeryExpectation & {
      /** Makes the callback; may also change what the fake answers, for providers that are asked. */
      make: (fixture: ProviderFixture) => Promise<RawCallback>;
      /** Whether the invoice is paid and credited before (F6, F8). */
      afterCredit?: boolean;
    });

/** A vector of docs/spec/vectors: `input` is the text on the wire, `expected` the signature or the decision. */
export interface Vector {
  provider: string;
  id: string;
  kind: 'request' | 'callback' | 'decision';
  input?: unknown;
  expected: unknown;
  accept: boolean;
  keys: Record<string, string>;
  [field: string]: unknown;
}

/** One provider of the table: everything that its tests need to know. */
export interface ProviderCase {
  method: string;
  /** Settings besides `SANDBOX_PROVIDERS`. */
  settings?: Record<string, string>;
  /**
   * What an administrator enters to use the provider without the sandbox, besides `<METHOD>_ENABLED`.
   * @param secret of the fake, which answers in the place of the provider
   */
  credentials: (secret: string) => Readonly<Record<string, string>>;
  /** Where the service sends its requests then, up to what the fake answers below its own address; null = it sends none. */
  realUrl: string | null;
  /** Environment values for this use, besides those of `settings`. */
  realEnvironment?: Record<string, string>;
  /** Sub-option of the invoice, where the method needs one. */
  option?: string;
  /** Makes the payment at the fake, where the provider has no invoices; `paymentId` is then 0, and the record is the payer's latest one. */
  pays?: (fixture: Pick<ProviderFixture, 'app' | 'sandbox' | 'secret'>, amountKopeks: number) => Promise<PreparedInvoice>;
  /** Status of the answer to a genuine callback, and its body. */
  acknowledges: { status: number; body: string };
  /** Actions that the provider reports by callback; the others are found by asking. */
  reports: readonly InvoiceAction[];
  /** Actions that cannot happen at this provider, with the reason. */
  impossible?: Partial<Record<InvoiceAction, string>>;
  forgeries: Record<ForgeryId, Forgery>;
  /** Runs a vector of docs/spec/vectors. @returns a boolean = whether our verifier accepts it; a text = what our signer makes of it */
  vector: (vector: Vector) => string | boolean;
}

declare module 'vitest' {
  interface TaskMeta {
    /** Why a provider has no such case; `npm run test:providers` shows it without a mark. */
    notApplicable?: string;
  }
}

/** Ends the current test as one that the provider cannot have, for a reason that 03a gives. */
export function notApplicable(reason: string): void {
  expect(reason).toMatch(/\w+ \w+/);
  TestRunner.getCurrentTest()!.meta.notApplicable = reason;
}
