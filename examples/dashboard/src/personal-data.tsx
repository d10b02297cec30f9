import { type FormEvent, useState } from 'react';
import { Panel, Table } from './panel.tsx';
import { client, sentenceOf, useMay } from './service.ts';
import { dayAndTime, useLanguage, useTexts, wordOf } from './texts.ts';
import { useInterval, useLoaded } from './use-loaded.ts';

const UNFINISHED = ['requested', 'running'];
const LOOK_AGAIN_MS = 2_000;

/** Archives and the erasure of a person's data. */
export function PersonalData({ userId }: { userId: number }) {
  const texts = useTexts();
  const language = useLanguage();
  const may = useMay();
  const [outcome, setOutcome] = useState<string | null>(null);
  const { personalData } = client.admin;
  const requests = useLoaded(() => personalData.list.query({ user_id: userId, limit: 20 }));
  const isWaiting = requests.value?.items.some(({ state }) => UNFINISHED.includes(state)) === true;
  useInterval(requests.reload, LOOK_AGAIN_MS, isWaiting);

  const run = (work: () => Promise<string | null>) => {
    setOutcome(null);
    work()
      .then(setOutcome, (error: unknown) => setOutcome(sentenceOf(error, texts.denied)))
      .finally(requests.reload);
  };
  const openArchive = (requestId: number) => run(async () => (await personalData.link.mutate({ request_id: requestId })).url);
  function erase(event: FormEvent<HTMLFormElement>) {
    event.preventDefault();
    const fields = new FormData(event.currentTarget);
    run(async () => {
      await personalData.erase.mutate({
        user_id: userId,
        confirmation: 'ERASE',
        end_subscription: fields.has('end'),
        forfeit_balance: fields.has('forfeit'),
      });
      return texts.erased;
    });
  }

  return (
    <Panel title={texts.personalData} loaded={requests} testId="personal-data">
      {({ items }) => (
        <>
          {items.length === 0 && <p className="soft">{texts.nothing}</p>}
          {items.length > 0 && (
            <Table
              caption={texts.personalData}
              columns={[texts.kind, texts.requestState, texts.when]}
              rows={items.map(({ id, kind, state, created_at }) => ({
                key: id,
                cells: [
                  wordOf(texts, kind),
                  kind === 'export' && state === 'ready' && may('personal_data:export') ? (
                    <button key="open" type="button" onClick={() => openArchive(id)}>
                      {texts.openArchive}
                    </button>
                  ) : (
                    wordOf(texts, state)
                  ),
                  dayAndTime(created_at, language),
                ],
              }))}
            />
          )}
          {may('personal_data:export') && (
            <button
              type="button"
              onClick={() =>
                run(async () => {
                  await personalData.requestExport.mutate({ user_id: userId });
                  return null;
                })
              }
            >
              {texts.requestExport}
            </button>
          )}
          {may('personal_data:erase') && (
            <details>
              <summary>{texts.erase}</summary>
              <form onSubmit={erase}>
                <p className="soft">{texts.eraseExplained}</p>
                <label className="check">
                  <input type="checkbox" name="end" /> {texts.endSubscription}
                </label>
                <label className="check">
                  <input type="checkbox" name="forfeit" /> {texts.forfeitBalance}
                </label>
                <label>
                  {texts.confirmation}
                  <input name="confirmation" required pattern="ERASE" autoComplete="off" />
                </label>
                <button type="submit" className="danger">
                  {texts.erase}
                </button>
              </form>
            </details>
          )}
          {outcome !== null && (
            <p role="status" className="break" data-testid="personal-data-outcome">
              {outcome.startsWith('http') ? <a href={outcome}>{outcome}</a> : outcome}
            </p>
          )}
        </>
      )}
    </Panel>
  );
}
