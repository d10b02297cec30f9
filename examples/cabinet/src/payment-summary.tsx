import { CabinetError } from '@subscription-service/client';
import type { ReactNode } from 'react';
import { useAccount } from './account-state.tsx';
import { Outcome } from './states.tsx';
import { money, useLanguage, useTexts } from './texts.ts';
import { TopUpForm } from './top-up-form.tsx';
import type { Action } from './use-action.ts';

interface SummaryProps<Input, Output> {
  priceKopeks: number;
  originalPriceKopeks?: number | null;
  action: Action<Input, Output>;
  onPay: () => void;
  payLabel: string;
  done: (answer: Output) => ReactNode;
  /** Lines between the heading and the price. */
  children?: ReactNode;
  /** Where the order is not saved when the balance is too small, nothing but the top-up is offered. */
  savesOrder?: boolean;
  /** There is nothing to order yet. */
  isDisabled?: boolean;
}

/**
 * What an order costs, before it is paid. When the balance is too small, the service saves the order with the refusal; the form tops up
 * what is missing, and then the service completes the order by itself, or the user pays it here.
 */
export function PaymentSummary<Input, Output>(props: SummaryProps<Input, Output>) {
  const { priceKopeks, originalPriceKopeks, action, onPay, payLabel, done, children, savesOrder = true, isDisabled } = props;
  const texts = useTexts();
  const language = useLanguage();
  const balanceKopeks = useAccount().balance.value?.balance_kopeks ?? 0;
  const missing = Math.max(0, priceKopeks - balanceKopeks);
  const isSaved = action.error instanceof CabinetError && action.error.code === 'insufficient_funds';
  return (
    <div className="summary" data-testid="summary">
      <dl>
        {children}
        <dt>{texts.toPay}</dt>
        <dd data-testid="price">
          {originalPriceKopeks != null && originalPriceKopeks > priceKopeks && (
            <s>
              <span className="hidden">{texts.withoutDiscount} </span>
              {money(originalPriceKopeks, language)}
            </s>
          )}{' '}
          <strong>{money(priceKopeks, language)}</strong>
        </dd>
        <dt>{texts.onBalance}</dt>
        <dd>{money(balanceKopeks, language)}</dd>
        {missing > 0 && (
          <>
            <dt>{texts.missing}</dt>
            <dd data-testid="missing">{money(missing, language)}</dd>
          </>
        )}
      </dl>
      {/* While an outcome is unknown, only its repeat is offered: another order could be paid twice. */}
      {!action.repeat && (missing === 0 || (savesOrder && !isSaved)) && (
        <button type="button" className="main" disabled={action.isBusy || isDisabled} onClick={onPay} data-testid="buy">
          {missing > 0 ? texts.saveAndTopUp : payLabel}
        </button>
      )}
      {!(isSaved && missing === 0) && <Outcome action={action} done={done} />}
      {missing > 0 && (isSaved || !savesOrder) && (
        <div data-testid="missing-top-up">
          {isSaved && <p className="hint">{texts.orderSaved}</p>}
          <TopUpForm atLeastKopeks={missing} key={missing} />
        </div>
      )}
    </div>
  );
}
