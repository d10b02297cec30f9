/** Exactly one valid tax receipt for what is left of each payment that has one. */
import type { ProofResult } from './credit-proof.ts';
import type { ServiceFacts } from './service-facts.ts';

export function proveReceipts(facts: ServiceFacts): ProofResult {
  const byMark = Map.groupBy(facts.incomes, ({ name }) => name.split('#').at(-1)!);
  const byPayment = Map.groupBy(facts.receipts, ({ paymentId }) => paymentId);
  const violations: string[] = [];
  for (const [mark, incomes] of byMark) {
    if (incomes.length > 1) violations.push(`the tax service has ${incomes.length} receipts with the mark ${mark}`);
    if (!facts.receipts.some((receipt) => receipt.mark === mark))
      violations.push(`receipt ${mark} of the tax service is not stored`);
  }
  let valid = 0;
  for (const payment of facts.payments) {
    if (payment.transactionId === null || !(payment.method === 'yookassa' || payment.purpose === 'guest_purchase')) continue;
    const back = facts.reversals
      .filter(({ paymentId, status }) => paymentId === payment.id && status === 'done')
      .reduce((sum, row) => sum + row.amountKopeks, 0);
    const left = payment.amountKopeks - back;
    const marks = (byPayment.get(payment.id) ?? []).map(({ mark }) => mark);
    const incomes = marks.flatMap((mark) => byMark.get(mark) ?? []).filter(({ cancellation }) => cancellation === null);
    valid += incomes.length;
    const kopeks = incomes.map(({ totalAmount }) => Math.round(Number(totalAmount) * 100));
    const isRight = left > 0 ? kopeks.length === 1 && kopeks[0] === left : kopeks.length === 0;
    if (!isRight)
      violations.push(
        `payment ${payment.id} (${payment.method}, ${payment.purpose}): ${left} kopeks are left, receipts say [${kopeks.join(', ')}]`,
      );
  }
  const cancelled = facts.incomes.filter(({ cancellation }) => cancellation !== null).length;
  return {
    title: 'exactly one receipt a payment, for what is left of it',
    facts: `${valid} valid and ${cancelled} cancelled receipts at the tax service`,
    violations,
  };
}
