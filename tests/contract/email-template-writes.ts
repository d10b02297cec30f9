/** Writes of administrators on e-mail templates. */
import { unique } from '../support/builders.ts';
import { ADMIN, type AdminWrite, type Stage } from './admin-write-samples.ts';

const PATH = '/email-templates';

async function aTemplate(stage: Stage, language: string): Promise<string> {
  const path = `${PATH}/payment_received/${language}`;
  const reply = await stage.boss.put(`${ADMIN}${path}`, { subject: `Subject ${unique()}`, body_html: '<p>Text</p>' });
  if (reply.status !== 200) throw new Error(reply.text);
  return path;
}

export const EMAIL_TEMPLATE_WRITES: Record<string, AdminWrite> = {
  [`PUT ${PATH}/{notification_type}/{language}`]: {
    kind: 'change',
    request: async (stage) => ({
      path: await aTemplate(stage, 'fa'),
      body: { subject: `Subject ${unique()}`, body_html: '<p>Other text</p>' },
    }),
  },
  [`DELETE ${PATH}/{notification_type}/{language}`]: {
    kind: 'deletion',
    request: async (stage) => ({ path: await aTemplate(stage, 'ua') }),
  },
};

export const EMAIL_TEMPLATES_WITHOUT_STATE: Record<string, string> = {
  [`POST ${PATH}/{notification_type}/preview`]: 'shows a text that is not stored',
  [`POST ${PATH}/{notification_type}/test`]: 'sends a mail with example values',
};
