import { useState } from 'react';
import { useAccount } from './account-state.tsx';
import { PaymentSummary } from './payment-summary.tsx';
import type { ClassicOptions } from './purchase.tsx';
import { client } from './service.ts';
import { Field, LoadedView } from './states.tsx';
import { money, useLanguage, useTexts } from './texts.ts';
import { useAction } from './use-action.ts';
import { useLoaded } from './use-loaded.ts';

type Period = ClassicOptions['periods'][number];

interface Selection {
  period_id: string;
  traffic_value: number;
  servers: string[];
  devices: number;
}

function firstSelection(period: Period): Selection {
  const { traffic, servers, devices } = period;
  return {
    period_id: period.id,
    traffic_value: traffic.default,
    servers: servers.selected.length > 0 ? servers.selected : servers.default,
    devices: Math.max(devices.current, devices.default),
  };
}

/** An installation without tariffs: period, traffic, servers and devices are chosen one by one, and the service calculates the price. */
export function ClassicOrder({ options, onBought }: { options: ClassicOptions; onBought: () => void }) {
  const texts = useTexts();
  const language = useLanguage();
  const [selection, setSelection] = useState(() => firstSelection(options.periods[0]!));
  const period = options.periods.find(({ id }) => id === selection.period_id) ?? options.periods[0]!;
  const change = (part: Partial<Selection>) => setSelection((before) => ({ ...before, ...part }));
  const { traffic, servers, devices } = period;

  function toggleServer(uuid: string, isOn: boolean) {
    const others = selection.servers.filter((one) => one !== uuid);
    change({ servers: isOn ? [...others, uuid] : others });
  }

  return (
    <section className="card order" data-testid="order">
      <h2>{texts.order}</h2>
      <fieldset>
        <legend>{texts.period}</legend>
        {options.periods.map((one) => (
          <label className="choice" key={one.id}>
            <input
              type="radio"
              name="period"
              checked={one.id === period.id}
              disabled={!one.is_available}
              onChange={() => change({ period_id: one.id })}
            />
            <span>{one.label}</span>
            <span className="end">{money(one.price_kopeks, language)}</span>
          </label>
        ))}
      </fieldset>
      {traffic.selectable && traffic.options && (
        <Field label={texts.traffic}>
          {(attributes) => (
            <select
              {...attributes}
              value={selection.traffic_value}
              onChange={(event) => change({ traffic_value: Number(event.target.value) })}
            >
              {traffic.options?.map((one) => (
                <option key={one.value} value={one.value} disabled={!one.is_available}>
                  {one.label} · {money(one.price_kopeks, language)}
                </option>
              ))}
            </select>
          )}
        </Field>
      )}
      {servers.options.length > 0 && (
        <fieldset>
          <legend>{texts.servers}</legend>
          {servers.options.map((one) => {
            const isOn = selection.servers.includes(one.uuid);
            return (
              <label className="choice" key={one.uuid}>
                <input
                  type="checkbox"
                  checked={isOn}
                  disabled={!one.is_available || (isOn && selection.servers.length <= servers.min)}
                  onChange={(event) => toggleServer(one.uuid, event.target.checked)}
                />
                <span>{one.name}</span>
                <span className="end">{money(one.price_kopeks, language)}</span>
              </label>
            );
          })}
        </fieldset>
      )}
      <Field label={texts.devices} hint={`${money(devices.price_per_device_kopeks, language)} · ${devices.min}–${devices.max}`}>
        {(attributes) => (
          <input
            {...attributes}
            type="number"
            min={devices.min}
            max={devices.max}
            value={selection.devices}
            onChange={(event) => change({ devices: event.target.valueAsNumber || devices.min })}
          />
        )}
      </Field>
      <ClassicSummary key={JSON.stringify(selection)} selection={selection} onBought={onBought} />
    </section>
  );
}

function ClassicSummary({ selection, onBought }: { selection: Selection; onBought: () => void }) {
  const texts = useTexts();
  const { balance, reload } = useAccount();
  const preview = useLoaded(() => client.api.subscription.classicPreview.mutate({ selection }), balance.value?.balance_kopeks);
  const action = useAction(
    'purchase-classic',
    (input: { selection: Selection; quote: string }, call) => client.api.subscription.purchaseClassic.mutate(input, call),
    () => {
      reload();
      onBought();
    },
  );
  return (
    <LoadedView from={preview}>
      {(value) => (
        <PaymentSummary
          priceKopeks={value.total_price_kopeks}
          originalPriceKopeks={value.original_price_kopeks}
          action={action}
          onPay={() => void action.run({ selection, quote: value.quote })}
          payLabel={texts.buy}
          done={() => texts.bought}
        >
          {value.breakdown.map(({ label, value: amount }) => (
            <BreakdownLine key={label} label={label} amount={amount} />
          ))}
        </PaymentSummary>
      )}
    </LoadedView>
  );
}

function BreakdownLine({ label, amount }: { label: string; amount: string }) {
  return (
    <>
      <dt>{label}</dt>
      <dd>{amount}</dd>
    </>
  );
}
