import { type FormEvent, useEffect, useState } from 'react';
import { client } from './service.ts';
import { LoadedView, Outcome } from './states.tsx';
import { dateAndTime, money, useLanguage, useTexts } from './texts.ts';
import { useAction } from './use-action.ts';
import { useLoaded } from './use-loaded.ts';

type PersonalData = Awaited<ReturnType<typeof client.api.personalData.read.query>>;

const UNFINISHED = ['requested', 'running'];
const POLL_MS = 2_000;

/** An archive of what the service stores about the user, and the erasure of the account, where the operator allows them. */
export function MyData() {
  const texts = useTexts();
  const data = useLoaded(() => client.api.personalData.read.query());
  const { reload } = data;
  const isWaiting = UNFINISHED.includes(data.value?.export?.state ?? '');
  useEffect(() => {
    if (!isWaiting) return;
    const timer = setInterval(reload, POLL_MS);
    return () => clearInterval(timer);
  }, [isWaiting, reload]);
  return (
    <LoadedView from={data} isEmpty={({ self_service }) => self_service === 'off'} empty={texts.dataByRequest}>
      {(value) => (
        <div className="columns">
          <ExportCard data={value} onChange={reload} />
          {value.self_service === 'export_and_erasure' && <ErasureCard data={value} onChange={reload} />}
        </div>
      )}
    </LoadedView>
  );
}

interface CardProps {
  data: PersonalData;
  onChange: () => void;
}

function ExportCard({ data, onChange }: CardProps) {
  const texts = useTexts();
  const language = useLanguage();
  const request = useAction('export', (_input: null) => client.api.personalData.requestExport.mutate(), onChange);
  const link = useAction('export-link', (input: { request_id: number }) => client.api.personalData.link.mutate(input));
  const last = data.export;
  return (
    <section className="card" data-testid="export">
      <h2>{texts.exportData}</h2>
      <p className="soft">{texts.exportHint}</p>
      {last && (
        <p>
          {dateAndTime(last.created_at, language)}:{' '}
          <span className={last.state === 'ready' ? 'state active' : 'state'}>{texts.dataStates[last.state]}</span>
        </p>
      )}
      <div className="buttons">
        <button
          type="button"
          className="main"
          disabled={request.isBusy || UNFINISHED.includes(last?.state ?? '')}
          onClick={() => void request.run(null)}
        >
          {texts.requestExport}
        </button>
        {last?.state === 'ready' && (
          <button type="button" className="plain" disabled={link.isBusy} onClick={() => void link.run({ request_id: last.id })}>
            {texts.archiveLink}
          </button>
        )}
      </div>
      <Outcome action={request} />
      <Outcome
        action={link}
        done={({ url, expires_at }) => (
          <>
            <a href={url} data-testid="archive">
              {texts.download}
            </a>{' '}
            {texts.until} {dateAndTime(expires_at, language)}
          </>
        )}
      />
    </section>
  );
}

function ErasureCard({ data, onChange }: CardProps) {
  const texts = useTexts();
  const language = useLanguage();
  const [isSure, setIsSure] = useState(false);
  const [forfeits, setForfeits] = useState(false);
  const [ends, setEnds] = useState(false);
  const request = useAction(
    'erasure',
    (input: { confirmation: 'ERASE'; forfeit_balance: boolean; end_subscription: boolean }) =>
      client.api.personalData.requestErasure.mutate(input),
    onChange,
  );
  const cancel = useAction('cancel-erasure', (_input: null) => client.api.personalData.cancelErasure.mutate(), onChange);
  const waiting = data.erasure?.state === 'requested' ? data.erasure : null;
  function submit(event: FormEvent) {
    event.preventDefault();
    void request.run({ confirmation: 'ERASE', forfeit_balance: forfeits, end_subscription: ends });
  }
  const others = data.obligations.filter((one) => one !== 'balance' && one !== 'paid_subscription');
  return (
    <section className="card" data-testid="erasure">
      <h2>{texts.eraseAccount}</h2>
      {waiting ? (
        <>
          <p>
            {texts.erasureDue} {waiting.due_at && dateAndTime(waiting.due_at, language)}
          </p>
          <button type="button" className="main" disabled={cancel.isBusy} onClick={() => void cancel.run(null)}>
            {texts.cancelErasure}
          </button>
          <Outcome action={cancel} />
        </>
      ) : (
        <form onSubmit={submit}>
          <p className="soft">
            {texts.erasureHint} {data.erasure_days} {texts.daysShort}
          </p>
          {others.map((one) => (
            <p key={one} className="problem">
              {texts.obligations[one]}
            </p>
          ))}
          {data.obligations.includes('balance') && (
            <label className="choice">
              <input type="checkbox" required checked={forfeits} onChange={(event) => setForfeits(event.target.checked)} />
              <span>
                {texts.forfeitBalance} {money(data.balance_kopeks, language)}
              </span>
            </label>
          )}
          {data.obligations.includes('paid_subscription') && (
            <label className="choice">
              <input type="checkbox" required checked={ends} onChange={(event) => setEnds(event.target.checked)} />
              <span>{texts.endSubscription}</span>
            </label>
          )}
          <label className="choice">
            <input type="checkbox" required checked={isSure} onChange={(event) => setIsSure(event.target.checked)} />
            <span>{texts.sureToErase}</span>
          </label>
          <button type="submit" className="main" disabled={request.isBusy || others.length > 0}>
            {texts.eraseAccount}
          </button>
          <Outcome action={request} />
        </form>
      )}
    </section>
  );
}
