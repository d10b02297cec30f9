import { useState } from 'react';
import { useAccount } from './account-state.tsx';
import { openView } from './routes.ts';
import { client } from './service.ts';
import { LoadedView, Outcome } from './states.tsx';
import { money, useLanguage, useTexts } from './texts.ts';
import { useAction } from './use-action.ts';
import { useLoaded } from './use-loaded.ts';

/** The linked sign-in belongs to another account of the same person: both become one, with one of their subscriptions. */
export function MergeAccounts({ token }: { token: string }) {
  const texts = useTexts();
  const language = useLanguage();
  const { reload, me } = useAccount();
  const preview = useLoaded(() => client.api.accountMerge.preview.query({ merge_token: token }));
  const [keptId, setKeptId] = useState<number | null>(null);
  const merge = useAction(
    'merge',
    async (input: { merge_token: string; keep_subscription_from: number }) => {
      const { access_token, refresh_token } = await client.api.accountMerge.execute.mutate(input);
      if (access_token && refresh_token) await client.session.start({ access_token, refresh_token });
      return true;
    },
    () => {
      me.reload();
      reload();
      openView('account');
    },
  );
  return (
    <section className="card" data-testid="merge">
      <h2>{texts.mergeAccounts}</h2>
      <p className="soft">{texts.mergeHint}</p>
      <LoadedView from={preview}>
        {({ primary, secondary }) => (
          <>
            <fieldset>
              <legend>{texts.keepSubscription}</legend>
              {[primary, secondary].map((account) => (
                <label className="choice" key={account.id}>
                  <input
                    type="radio"
                    name="kept"
                    checked={account.id === (keptId ?? primary.id)}
                    onChange={() => setKeptId(account.id)}
                  />
                  <span>
                    {account.email ?? account.username ?? account.first_name ?? `#${account.id}`}
                    <span className="soft block">
                      {account.subscription?.tariff_name ?? texts.withoutSubscription} · {money(account.balance_kopeks, language)}
                    </span>
                  </span>
                </label>
              ))}
            </fieldset>
            <button
              type="button"
              className="main"
              disabled={merge.isBusy}
              onClick={() => void merge.run({ merge_token: token, keep_subscription_from: keptId ?? primary.id })}
            >
              {texts.merge}
            </button>
          </>
        )}
      </LoadedView>
      <Outcome action={merge} />
    </section>
  );
}
