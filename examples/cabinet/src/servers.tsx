import { useState } from 'react';
import { type Subscription, useAccount } from './account-state.tsx';
import { PaymentSummary } from './payment-summary.tsx';
import { client } from './service.ts';
import { LoadedView } from './states.tsx';
import { money, useLanguage, useTexts } from './texts.ts';
import { useAction } from './use-action.ts';
import { useLoaded } from './use-loaded.ts';

/** Servers of the running subscription: those that are added are paid for the remaining time, those that are left out cost nothing. */
export function Servers() {
  const texts = useTexts();
  const { subscription } = useAccount();
  return (
    <LoadedView from={subscription} isEmpty={(value) => !value.subscription} empty={texts.noSubscription}>
      {({ subscription: current }) => current && <ServerChoice connected={current.connected_squads} />}
    </LoadedView>
  );
}

function ServerChoice({ connected }: { connected: Subscription['connected_squads'] }) {
  const texts = useTexts();
  const language = useLanguage();
  const { reload } = useAccount();
  const offer = useLoaded(() => client.api.subscription.countries.query());
  const [draft, setDraft] = useState<readonly string[] | null>(null);
  const chosen = draft ?? connected;
  const action = useAction(
    'change-servers',
    (input: { body: { countries: string[] } }, call) => client.api.subscription.changeCountries.mutate(input, call),
    () => {
      setDraft(null);
      offer.reload();
      reload();
    },
  );
  const toggle = (uuid: string, isOn: boolean) => {
    const others = chosen.filter((one) => one !== uuid);
    setDraft(isOn ? [...others, uuid] : others);
  };
  const isChanged = chosen.length !== connected.length || chosen.some((uuid) => !connected.includes(uuid));
  return (
    <LoadedView from={offer} isEmpty={({ countries }) => countries.length === 0} empty={texts.noServers}>
      {({ countries, days_left }) => {
        const added = countries.filter(({ uuid }) => chosen.includes(uuid) && !connected.includes(uuid));
        return (
          <section className="card" data-testid="servers">
            <fieldset>
              <legend>{texts.servers}</legend>
              {countries.map(({ uuid, name, price_kopeks, is_available }) => {
                const isOn = chosen.includes(uuid);
                const isMine = connected.includes(uuid);
                return (
                  <label className="choice" key={uuid}>
                    <input
                      type="checkbox"
                      checked={isOn}
                      // One at least stays.
                      disabled={(!is_available && !isMine) || (isOn && chosen.length === 1)}
                      onChange={(event) => toggle(uuid, event.target.checked)}
                    />
                    <span>{name}</span>
                    <span className="end">
                      {isMine ? texts.current : is_available ? money(price_kopeks, language) : texts.full}
                    </span>
                  </label>
                );
              })}
            </fieldset>
            <PaymentSummary
              priceKopeks={added.reduce((sum, { price_kopeks }) => sum + price_kopeks, 0)}
              action={action}
              onPay={() => void action.run({ body: { countries: [...chosen] } })}
              payLabel={texts.changeServers}
              done={() => texts.saved}
              savesOrder={false}
              isDisabled={!isChanged}
            >
              <dt>{texts.daysLeft}</dt>
              <dd>{days_left}</dd>
            </PaymentSummary>
          </section>
        );
      }}
    </LoadedView>
  );
}
