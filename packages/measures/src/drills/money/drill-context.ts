/** What the lanes of the drill share: the fixture, the client, random choices, and a record of what was done. */
import { setTimeout as wait } from 'node:timers/promises';
import type { InvoiceAction } from '../../../../sandbox/src/payments/invoice.ts';
import type { SeededRandom } from '../seeded-random.ts';
import type { PaidTwice } from './second-charges.ts';
import type { ServiceClient } from './service-client.ts';
import type { ServiceFixture } from './service-fixture.ts';

/** A reversal that the provider or the payer made, not the service. */
interface ProviderReversal {
  invoiceId: string;
  action: 'refund' | 'chargeback';
}

/** A gift whose purchase was acknowledged. */
export interface BoughtGift {
  code: string;
  buyerId: number;
  /** Users whose activation was acknowledged. */
  claimedBy: Set<number>;
  /** The operator's refund was carried out. */
  isRefunded: boolean;
}

export interface Deeds {
  /** What payers and providers did, by method and action. */
  readonly actions: Map<string, number>;
  readonly reversals: ProviderReversal[];
  readonly paidTwice: PaidTwice[];
  /** Tariffs bought from the balance, by user. */
  readonly purchases: Map<number, { acknowledged: number; unknown: number }>;
  readonly gifts: BoughtGift[];
  /** Acknowledged decisions about withdrawals, `approve 7`. */
  readonly decisions: string[];
  /** Decisions of the operator, by kind. */
  readonly commands: Map<string, number>;
}

export interface DrillContext {
  fixture: ServiceFixture;
  client: ServiceClient;
  random: SeededRandom;
  deeds: Deeds;
  /** Work that nobody waits for: what payers do after the invoice was made. */
  inBackground(work: () => Promise<void>): void;
  /** Work for the next day of the drill. */
  tomorrow: (() => Promise<void>)[];
  /** Resolves when nothing is under way in the background. @throws the first error of it */
  settled(): Promise<void>;
}

export function createDrillContext(fixture: ServiceFixture, client: ServiceClient, random: SeededRandom): DrillContext {
  const running = new Set<Promise<void>>();
  const errors: unknown[] = [];
  return {
    ...{ fixture, client, random },
    deeds: {
      actions: new Map(),
      reversals: [],
      paidTwice: [],
      purchases: new Map(),
      gifts: [],
      decisions: [],
      commands: new Map(),
    },
    tomorrow: [],
    inBackground: (work) => {
      const run: Promise<void> = work()
        .catch((error: unknown) => void errors.push(error))
        .finally(() => running.delete(run));
      running.add(run);
    },
    settled: async () => {
      while (running.size > 0) await Promise.all(running);
      if (errors.length > 0) throw errors[0];
    },
  };
}

export function countOne(counts: Map<string, number>, name: string): void {
  counts.set(name, (counts.get(name) ?? 0) + 1);
}

/** Performs an action of the payer or the provider, if the invoice allows it. @returns whether it did */
export async function perform(
  drill: DrillContext,
  invoiceId: string,
  action: InvoiceAction,
  refundKopeks?: number,
): Promise<boolean> {
  const changed = await drill.fixture.fakes.payments.act(invoiceId, action, refundKopeks);
  if (!changed) return false;
  countOne(drill.deeds.actions, `${changed.wire} ${action}`);
  if (action === 'refund' || action === 'chargeback') drill.deeds.reversals.push({ invoiceId, action });
  return true;
}

/** Repeats a step until it is asked to stop. @param pauseMs mean pause after each step */
export async function runLane(
  drill: DrillContext,
  isStopping: () => boolean,
  pauseMs: number,
  step: () => Promise<void>,
): Promise<void> {
  while (!isStopping()) {
    await step();
    await wait(drill.random.between(pauseMs / 2, pauseMs * 1.5));
  }
}
