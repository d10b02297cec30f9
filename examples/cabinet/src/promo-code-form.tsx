import { type FormEvent, useState } from 'react';
import { useAccount } from './account-state.tsx';
import { client } from './service.ts';
import { Field, Outcome } from './states.tsx';
import { day, useLanguage, useTexts } from './texts.ts';
import { useAction } from './use-action.ts';
import { useLoaded } from './use-loaded.ts';

/** A code can add balance, days or traffic, or a discount on the next purchase. */
export function PromoCodeForm({ onActivated }: { onActivated: () => void }) {
  const texts = useTexts();
  const language = useLanguage();
  const { reload } = useAccount();
  const [code, setCode] = useState('');
  const discount = useLoaded(() => client.api.promo.activeDiscount.query());
  const changed = () => {
    discount.reload();
    reload();
    onActivated();
  };
  const activate = useAction(
    'promo-code',
    (input: { code: string }, call) => client.api.promocode.activate.mutate(input, call),
    () => {
      setCode('');
      changed();
    },
  );
  const clear = useAction('clear-discount', (_input: null) => client.api.promo.clearDiscount.mutate(), changed);
  function submit(event: FormEvent) {
    event.preventDefault();
    void activate.run({ code: code.trim() });
  }
  return (
    <section className="card" data-testid="promo-code">
      <h2>{texts.promoCode}</h2>
      {discount.value?.is_active && discount.value.discount_percent > 0 && (
        <p data-testid="discount">
          {texts.discount}: {discount.value.discount_percent}%
          {discount.value.expires_at && ` ${texts.until} ${day(discount.value.expires_at, language)}`}{' '}
          <button type="button" className="plain" disabled={clear.isBusy} onClick={() => void clear.run(null)}>
            {texts.clearDiscount}
          </button>
        </p>
      )}
      <form className="inline" onSubmit={submit}>
        <Field label={texts.code} error={activate.error} path="code">
          {(attributes) => (
            <input
              {...attributes}
              name="promo"
              autoComplete="off"
              required
              maxLength={50}
              value={code}
              onChange={(event) => setCode(event.target.value)}
            />
          )}
        </Field>
        <button type="submit" className="plain" disabled={activate.isBusy}>
          {texts.activate}
        </button>
      </form>
      <Outcome action={activate} done={({ message, bonus_description }) => bonus_description ?? message} fields={['code']} />
    </section>
  );
}
