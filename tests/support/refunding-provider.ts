import { ProviderError, type ProviderFailure, type RefundRequest } from '../../src/domain/payments/ports.ts';
import { ScriptedProvider } from './scripted-provider.ts';

/** A provider with refunds; each is carried out at once unless a fault says otherwise. */
export class RefundingProvider extends ScriptedProvider {
  readonly canRefundPartly = true;
  readonly refunds: RefundRequest[] = [];
  faults: (ProviderFailure | 'after' | 'pending')[] = [];

  refund = async (request: RefundRequest) => {
    const fault = this.faults.shift();
    if (fault === 'rejected' || fault === 'unavailable' || fault === 'not_configured') {
      throw new ProviderError(this.method, fault, 'scripted');
    }
    this.refunds.push(request);
    const reversalId = `refund-${request.idempotencyKey}`;
    const invoice = this.invoices.get(request.externalId)!;
    const done = { reversalId, kind: 'refund' as const, amountKopeks: request.amountKopeks };
    if (fault !== 'pending') invoice.reversals = [...(invoice.reversals ?? []), done];
    if (fault === 'after') throw new ProviderError(this.method, 'unavailable', 'the answer was lost');
    return { reversalId, state: fault === 'pending' ? ('pending' as const) : ('done' as const) };
  };
}
