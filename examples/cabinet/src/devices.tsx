import { type FormEvent, useState } from 'react';
import { useAccount } from './account-state.tsx';
import { PaymentSummary } from './payment-summary.tsx';
import { client } from './service.ts';
import { Field, LoadedView, Outcome } from './states.tsx';
import { day, money, useLanguage, useTexts } from './texts.ts';
import { useAction } from './use-action.ts';
import { useLoaded } from './use-loaded.ts';

/** Connected devices, more of them, or fewer. */
export function Devices() {
  const texts = useTexts();
  const { subscription } = useAccount();
  return (
    <LoadedView from={subscription} isEmpty={(value) => !value.subscription} empty={texts.noSubscription}>
      {({ subscription: current }) => (
        <>
          <ConnectedDevices />
          <div className="columns" key={current?.device_limit}>
            <MoreDevices />
            <FewerDevices />
          </div>
        </>
      )}
    </LoadedView>
  );
}

function ConnectedDevices() {
  const texts = useTexts();
  const language = useLanguage();
  const list = useLoaded(() => client.api.subscription.devices.query());
  const forget = useAction(
    'forget-device',
    (input: { hwid: string }) => client.api.subscription.forgetDevice.mutate(input),
    list.reload,
  );
  const forgetAll = useAction('forget-devices', (_input: null) => client.api.subscription.forgetDevices.mutate(), list.reload);
  return (
    <section className="card" data-testid="devices">
      <h2>{texts.connectedDevices}</h2>
      <LoadedView from={list} isEmpty={({ devices }) => devices.length === 0} empty={texts.noDevices}>
        {({ devices, total, device_limit }) => (
          <>
            <p className="soft">
              {total} / {device_limit}
            </p>
            <ul className="rows">
              {devices.map((device) => (
                <li key={device.hwid}>
                  <span>
                    {device.device_model || device.platform}
                    <span className="soft">
                      {' '}
                      {device.platform}
                      {device.created_at && `, ${day(device.created_at, language)}`}
                    </span>
                  </span>
                  <button
                    type="button"
                    className="plain"
                    disabled={forget.isBusy}
                    aria-label={`${texts.remove}: ${device.device_model || device.platform}`}
                    onClick={() => void forget.run({ hwid: device.hwid })}
                  >
                    {texts.remove}
                  </button>
                </li>
              ))}
            </ul>
            <button type="button" className="plain" disabled={forgetAll.isBusy} onClick={() => void forgetAll.run(null)}>
              {texts.removeAll}
            </button>
          </>
        )}
      </LoadedView>
      <Outcome action={forget} done={({ message }) => message} />
      <Outcome action={forgetAll} done={({ message }) => message} />
    </section>
  );
}

function MoreDevices() {
  const texts = useTexts();
  const [count, setCount] = useState(1);
  return (
    <section className="card" data-testid="more-devices">
      <h2>{texts.moreDevices}</h2>
      <Field label={texts.count}>
        {(attributes) => (
          <input
            {...attributes}
            type="number"
            min={1}
            value={count}
            onChange={(event) => setCount(event.target.valueAsNumber || 1)}
          />
        )}
      </Field>
      <DevicesPrice key={count} count={count} />
    </section>
  );
}

function DevicesPrice({ count }: { count: number }) {
  const texts = useTexts();
  const language = useLanguage();
  const { balance, reload } = useAccount();
  const price = useLoaded(() => client.api.subscription.devicePrice.query({ devices: count }), balance.value?.balance_kopeks);
  const action = useAction(
    'purchase-devices',
    (input: { devices: number; quote: string }, call) => client.api.subscription.purchaseDevices.mutate(input, call),
    reload,
  );
  return (
    <LoadedView from={price}>
      {(value) =>
        value.available ? (
          <PaymentSummary
            priceKopeks={value.total_price_kopeks}
            originalPriceKopeks={value.base_total_price_kopeks}
            action={action}
            onPay={() => void action.run({ devices: value.devices, quote: value.quote })}
            payLabel={texts.buy}
            done={({ message }) => message}
          >
            <dt>{texts.perDevice}</dt>
            <dd>{money(value.price_per_device_kopeks, language)}</dd>
            <dt>{texts.daysLeft}</dt>
            <dd>{value.days_left}</dd>
          </PaymentSummary>
        ) : (
          <p className="soft">{value.reason}</p>
        )
      }
    </LoadedView>
  );
}

function FewerDevices() {
  const texts = useTexts();
  const { reload } = useAccount();
  const info = useLoaded(() => client.api.subscription.reductionInfo.query());
  const [limit, setLimit] = useState<number | null>(null);
  const action = useAction(
    'reduce-devices',
    (input: { body: { new_device_limit: number } }) => client.api.subscription.reduceDevices.mutate(input),
    () => {
      info.reload();
      reload();
    },
  );
  function submit(event: FormEvent, chosen: number) {
    event.preventDefault();
    void action.run({ body: { new_device_limit: chosen } });
  }
  return (
    <LoadedView from={info}>
      {(value) =>
        value.available && (
          <form className="card" onSubmit={(event) => submit(event, limit ?? value.current_device_limit - 1)}>
            <h2>{texts.fewerDevices}</h2>
            <p className="soft">{texts.fewerDevicesHint}</p>
            <Field label={texts.newLimit} hint={`${value.min_device_limit}–${value.current_device_limit - 1}`}>
              {(attributes) => (
                <input
                  {...attributes}
                  type="number"
                  min={value.min_device_limit}
                  max={value.current_device_limit - 1}
                  required
                  value={limit ?? value.current_device_limit - 1}
                  onChange={(event) => setLimit(event.target.valueAsNumber)}
                />
              )}
            </Field>
            <button type="submit" className="plain" disabled={action.isBusy}>
              {texts.reduce}
            </button>
            <Outcome action={action} done={({ message }) => message} />
          </form>
        )
      }
    </LoadedView>
  );
}
