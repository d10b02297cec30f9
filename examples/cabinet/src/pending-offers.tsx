import { client } from './service.ts';
import { Outcome } from './states.tsx';
import { day, useLanguage, useTexts } from './texts.ts';
import { useAction } from './use-action.ts';
import { useLoaded } from './use-loaded.ts';

/** Personal offers that wait to be claimed; nothing when there is none. */
export function PendingOffers() {
  const texts = useTexts();
  const language = useLanguage();
  const offers = useLoaded(() => client.api.promo.offers.query());
  const action = useAction('claim-offer', (input: { offer_id: number }) => client.api.promo.claim.mutate(input), offers.reload);
  const open = offers.value?.filter(({ is_active, is_claimed }) => is_active && !is_claimed) ?? [];
  if (open.length === 0 && action.answer === null) return null;
  return (
    <section className="card" data-testid="offers">
      <h2>{texts.offers}</h2>
      <ul className="rows">
        {open.map(({ id, discount_percent, expires_at }) => (
          <li key={id}>
            <span>
              {discount_percent ? `${texts.discount} ${discount_percent}%` : texts.offer} · {texts.until}{' '}
              {day(expires_at, language)}
            </span>
            <button type="button" className="plain" disabled={action.isBusy} onClick={() => void action.run({ offer_id: id })}>
              {texts.claim}
            </button>
          </li>
        ))}
      </ul>
      <Outcome action={action} done={({ message }) => message} />
    </section>
  );
}
