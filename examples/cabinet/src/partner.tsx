import { type FormEvent, useState } from 'react';
import { client } from './service.ts';
import { Field, LoadedView, Outcome } from './states.tsx';
import { money, useLanguage, useTexts } from './texts.ts';
import { useAction } from './use-action.ts';
import { useLoaded } from './use-loaded.ts';

/** Partners have campaigns of the operator; others can apply. */
export function PartnerCard() {
  const texts = useTexts();
  const language = useLanguage();
  const status = useLoaded(() => client.api.partner.status.query());
  return (
    <section className="card" data-testid="partner">
      <h2>{texts.partner}</h2>
      <LoadedView from={status}>
        {({ partner_status, commission_percent, campaigns, latest_application }) => (
          <>
            {partner_status === 'approved' && (
              <>
                <p>
                  {texts.commission}: {commission_percent}%
                </p>
                <ul className="rows">
                  {campaigns.map((one) => (
                    <li key={one.id}>
                      <span>
                        {one.name}
                        <span className="soft block">{one.web_link ?? one.deep_link}</span>
                      </span>
                      <span>
                        {one.referrals_count} · {money(one.earnings_kopeks, language)}
                      </span>
                    </li>
                  ))}
                </ul>
              </>
            )}
            {partner_status === 'pending' && <p className="soft">{texts.applicationWaits}</p>}
            {partner_status === 'rejected' && latest_application?.admin_comment && <p>{latest_application.admin_comment}</p>}
            {(partner_status === 'none' || partner_status === 'rejected') && <ApplicationForm onSent={status.reload} />}
          </>
        )}
      </LoadedView>
    </section>
  );
}

function ApplicationForm({ onSent }: { onSent: () => void }) {
  const texts = useTexts();
  const [description, setDescription] = useState('');
  const action = useAction(
    'partner-application',
    (input: { description: string }) => client.api.partner.sendApplication.mutate(input),
    onSent,
  );
  function submit(event: FormEvent) {
    event.preventDefault();
    void action.run({ description: description.trim() });
  }
  return (
    <form onSubmit={submit}>
      <Field label={texts.applicationText} error={action.error} path="description">
        {(attributes) => (
          <textarea
            {...attributes}
            rows={3}
            required
            value={description}
            onChange={(event) => setDescription(event.target.value)}
          />
        )}
      </Field>
      <button type="submit" className="plain" disabled={action.isBusy}>
        {texts.apply}
      </button>
      <Outcome action={action} fields={['description']} />
    </form>
  );
}
