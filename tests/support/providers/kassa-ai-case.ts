import { orderApiCase } from './order-api-case.ts';

/** Kassa.ai (03a section 11). */
export const kassaAiCase = orderApiCase({
  method: 'kassa_ai',
  path: '/kassa-ai-webhook',
  F11: { notApplicable: 'the provider publishes no addresses' },
  vectors: { shopId: '33', word2: 'kw-two' },
});
