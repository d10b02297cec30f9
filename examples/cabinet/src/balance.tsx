import { useState } from 'react';
import { useAccount } from './account-state.tsx';
import { BalanceCard } from './balance-card.tsx';
import { Pager } from './pager.tsx';
import { PromoCodeForm } from './promo-code-form.tsx';
import { client } from './service.ts';
import { LoadedView, Outcome } from './states.tsx';
import { dateAndTime, money, useLanguage, useTexts } from './texts.ts';
import { useAction } from './use-action.ts';
import { useLoaded } from './use-loaded.ts';

const PER_PAGE = 10;

/** Top-up, what moved the balance, payments that are open, and cards. */
export function BalanceView() {
  const { balance, reload } = useAccount();
  return (
    <>
      <div className="columns">
        <BalanceCard balanceKopeks={balance.value?.balance_kopeks ?? null} error={balance.error} />
        <PromoCodeForm onActivated={reload} />
      </div>
      <PendingPayments />
      <Movements />
      <SavedCards />
    </>
  );
}

function Movements() {
  const texts = useTexts();
  const language = useLanguage();
  const { balance } = useAccount();
  const [page, setPage] = useState(1);
  const list = useLoaded(
    () => client.api.balance.transactions.query({ page, per_page: PER_PAGE }),
    `page ${page}, balance ${balance.value?.balance_kopeks}`,
  );
  return (
    <section className="card" data-testid="movements">
      <h2>{texts.movements}</h2>
      <LoadedView from={list} isEmpty={({ items }) => items.length === 0} empty={texts.noMovements}>
        {({ items, pages }) => (
          <>
            <ul className="rows">
              {items.map(({ id, description, type, amount_kopeks, created_at }) => (
                <li key={id}>
                  <span>
                    {description ?? type}
                    <span className="soft"> {dateAndTime(created_at, language)}</span>
                  </span>
                  <strong className={amount_kopeks > 0 ? 'success' : ''}>
                    {amount_kopeks > 0 && '+'}
                    {money(amount_kopeks, language)}
                  </strong>
                </li>
              ))}
            </ul>
            <Pager page={page} pages={pages} onPage={setPage} />
          </>
        )}
      </LoadedView>
    </section>
  );
}

/** Nothing when no payment is open. */
function PendingPayments() {
  const texts = useTexts();
  const language = useLanguage();
  const { balance, reload: reloadAccount } = useAccount();
  // A payment that was credited is no longer open.
  const list = useLoaded(() => client.api.balance.pendingPayments.query({}), balance.value?.balance_kopeks);
  const check = useAction(
    'check-payment',
    (input: { method: string; payment_id: number }) => client.api.balance.checkPayment.mutate(input),
    () => {
      list.reload();
      reloadAccount();
    },
  );
  const items = list.value?.items.filter(({ is_paid }) => !is_paid) ?? [];
  if (items.length === 0) return null;
  return (
    <section className="card" data-testid="pending-payments">
      <h2>{texts.pendingPayments}</h2>
      <ul className="rows">
        {items.map(({ id, method, method_display, amount_kopeks, status_text, payment_url, is_checkable }) => (
          <li key={`${method}-${id}`}>
            <span>
              {method_display} · {money(amount_kopeks, language)} <span className="soft">{status_text}</span>
            </span>
            <span className="buttons">
              {payment_url && (
                <a href={payment_url} target="_blank" rel="noreferrer">
                  {texts.payPage}
                </a>
              )}
              {is_checkable && (
                <button
                  type="button"
                  className="plain"
                  disabled={check.isBusy}
                  onClick={() => void check.run({ method, payment_id: id })}
                >
                  {texts.checkPayment}
                </button>
              )}
            </span>
          </li>
        ))}
      </ul>
      <Outcome action={check} done={({ message }) => message} />
    </section>
  );
}

/** Nothing where no provider charges cards again. */
function SavedCards() {
  const texts = useTexts();
  const list = useLoaded(() => client.api.balance.savedCards.query());
  const unlink = useAction(
    'unlink-card',
    (input: { card_id: number }) => client.api.balance.unlinkCard.mutate(input),
    list.reload,
  );
  if (!list.value || (list.value.cards.length === 0 && !list.value.recurrent_enabled)) return null;
  return (
    <section className="card">
      <h2>{texts.cards}</h2>
      {list.value.cards.length === 0 && <p className="soft">{texts.noCards}</p>}
      <ul className="rows">
        {list.value.cards.map(({ id, title, card_type, card_last4, method_type }) => (
          <li key={id}>
            <span>{title ?? `${card_type ?? method_type} ··${card_last4 ?? ''}`}</span>
            <button type="button" className="plain" disabled={unlink.isBusy} onClick={() => void unlink.run({ card_id: id })}>
              {texts.remove}
            </button>
          </li>
        ))}
      </ul>
      <Outcome action={unlink} done={({ message }) => message} />
    </section>
  );
}
