import { describe, expect, test } from 'vitest';
import type { CheckedOrder, InvoiceRequest, ProviderCallback } from '../../../src/domain/payments/ports.ts';
import {
  cloudpaymentsProvider,
  cloudpaymentsSignature,
  receiveCloudpaymentsCallback,
} from '../../../src/integrations/payments/cloudpayments/cloudpayments-provider.ts';
import {
  foundState,
  kindOf,
  notifiedState,
  orderBody,
  refundBody,
} from '../../../src/integrations/payments/cloudpayments/order-wire.ts';
import { parseWireForm } from '../../../src/integrations/payments/wire/form.ts';
import { parseWireObject } from '../../../src/integrations/payments/wire/json.ts';
import { recordedAccess } from '../../support/providers/adapter-access.ts';
import { aConnection } from '../../support/providers/cloudpayments-case.ts';

const form = (fields: Record<string, string>) => parseWireForm(new URLSearchParams(fields).toString())!;

const PAY = {
  TransactionId: '1505',
  Amount: '500.00',
  Currency: 'RUB',
  InvoiceId: 'order-1',
  AccountId: '7',
  Status: 'Completed',
  OperationType: 'Payment',
  GatewayName: 'Bank',
  TestMode: '0',
  DateTime: '2026-10-02 10:00:00',
};

describe('an order', () => {
  const request: InvoiceRequest = {
    paymentId: 1,
    orderId: 'order-1',
    amountKopeks: 1_999,
    description: 'Top-up',
    payerEmail: 'a@example.com',
    returnUrls: { result: null, success: 'https://shop.example/ok', failed: 'https://shop.example/no' },
    metadata: { user_id: 7, user_messenger_id: null },
  };

  test('has the exact amount, one stage and our order id (03a 12)', () => {
    expect(orderBody(request, aConnection())).toBe(
      '{"Amount":19.99,"Currency":"RUB","Description":"Top-up","InvoiceId":"order-1","AccountId":"7","Email":"a@example.com",' +
        '"RequireConfirmation":false,"SendEmail":false,"SuccessRedirectUrl":"https://shop.example/ok",' +
        '"FailRedirectUrl":"https://shop.example/no","JsonData":{"user_id":7,"invoice_id":"order-1"}}',
    );
  });

  test('of a guest names no account, and uses the return URL of the settings', () => {
    const { payerEmail: _email, ...guest } = request;
    const urls = { result: null, success: null, failed: null };
    const body = orderBody({ ...guest, metadata: {}, returnUrls: urls }, aConnection({ returnUrl: 'https://shop.example/' }));
    expect(JSON.parse(body)).not.toHaveProperty('AccountId');
    expect(JSON.parse(body)).toMatchObject({ SuccessRedirectUrl: 'https://shop.example/' });
  });

  test.each([
    ['true', undefined, 'rejected', 0],
    ['true', 'a@example.com', null, 1],
    ['false', undefined, null, 1],
  ])('spec 10 O4: with CLOUDPAYMENTS_REQUIRE_EMAIL %s and the address %s', async (required, payerEmail, refusal, sent) => {
    const settings = { CLOUDPAYMENTS_ENABLED: 'true', CLOUDPAYMENTS_PUBLIC_ID: 'pk', CLOUDPAYMENTS_API_SECRET: 'secret-1' };
    const answer = [{ body: { Success: true, Model: { Url: 'https://pay.example/1' } } }];
    const { access, requests } = recordedAccess({ ...settings, CLOUDPAYMENTS_REQUIRE_EMAIL: required }, answer);
    const { payerEmail: _email, ...order } = { ...request, amountKopeks: 50_000 };
    const made = cloudpaymentsProvider(access).createInvoice(payerEmail ? { ...order, payerEmail } : order);
    await expect(
      made.then(
        () => null,
        (error) => error.failure,
      ),
    ).resolves.toBe(refusal);
    expect(requests).toHaveLength(sent);
  });

  test('is refunded in exact rubles, with ids above 2^53', () => {
    expect(refundBody('9007199254740993', 1_050)).toBe('{"TransactionId":9007199254740993,"Amount":10.5}');
  });
});

describe('a payment that was found', () => {
  const model = (change: Record<string, unknown> = {}) =>
    parseWireObject(
      JSON.stringify({
        TransactionId: 1505,
        Amount: 500,
        Currency: 'RUB',
        InvoiceId: 'order-1',
        AccountId: '7',
        TestMode: false,
        Status: 'Completed',
        ConfirmDateIso: '2026-10-02T10:00:05',
        ...change,
      }),
    )!;

  test.each([
    ['Completed and confirmed is paid', {}, 'paid'],
    ['Completed without a date of confirmation is not', { ConfirmDateIso: null }, 'pending'],
    ['Completed with an empty date is not', { ConfirmDateIso: '' }, 'pending'],
    ['Authorized is held money, not paid', { Status: 'Authorized' }, 'pending'],
    ['Declined leaves the order payable', { Status: 'Declined' }, 'pending'],
    ['Cancelled was never paid', { Status: 'Cancelled' }, 'failed'],
    ['unknown words change nothing', { Status: 'Whatever' }, 'pending'],
    ['money that went back needs a decision', { Refunded: true }, 'blocked'],
  ])('%s', (_what, change, outcome) => {
    expect(foundState(model(change), aConnection())?.outcome).toBe(outcome);
  });

  test('of a test terminal is no money, unless the shop has one', () => {
    expect(foundState(model({ TestMode: true }), aConnection())?.isTest).toBe(true);
    expect(foundState(model({ TestMode: true }), aConnection({ isTestTerminal: true }))?.isTest).toBe(false);
  });
});

describe('a notification', () => {
  test.each([
    ['', PAY, 'pay'],
    ['', { ...PAY, GatewayName: '' }, 'check'],
    ['', { ...PAY, Reason: 'InsufficientFunds', ReasonCode: '5051' }, 'fail'],
    ['', { ...PAY, ReasonCode: '0' }, 'pay'],
    ['', { TransactionId: '9', PaymentTransactionId: '1505', Amount: '1' }, 'refund'],
    ['', { TransactionId: '9', OperationType: 'Refund', Amount: '1' }, 'refund'],
    ['', { TransactionId: '9', Status: 'Cancelled', Amount: '1' }, 'cancel'],
    ['pay', { ...PAY, ReasonCode: '5051' }, 'fail'],
    ['check', PAY, 'check'],
    ['confirm', PAY, 'confirm'],
    ['cancel', { TransactionId: '9' }, 'cancel'],
  ] as const)('at the path %j with %o is %s', (subpath, fields, kind) => {
    expect(kindOf(form(fields), subpath)).toBe(kind);
  });

  test('of a payment is paid only when it is Completed and came through a gateway', () => {
    expect(notifiedState(form(PAY), 'pay', false)).toMatchObject({
      outcome: 'paid',
      externalId: 'order-1',
      orderId: 'order-1',
      chargeId: '1505',
      merchantId: '7',
      amountKopeks: 50_000,
      currency: 'RUB',
      paidAt: new Date('2026-10-02T10:00:00Z'),
      isTest: false,
    });
    expect(notifiedState(form({ ...PAY, Status: 'Authorized' }), 'pay', false)).toBeNull();
    expect(notifiedState(form({ ...PAY, GatewayName: '' }), 'pay', false)).toBeNull();
    expect(notifiedState(form({ ...PAY, GatewayName: '' }), 'confirm', false)).toBeNull();
    expect(notifiedState(form({ ...PAY, TestMode: '1' }), 'pay', false)?.isTest).toBe(true);
    expect(notifiedState(form({ ...PAY, TestMode: '1' }), 'pay', true)?.isTest).toBe(false);
  });

  test('of a refund names its own transaction and the part that went back', () => {
    const fields = { TransactionId: '9', PaymentTransactionId: '1505', Amount: '1.50', InvoiceId: 'order-1' };
    expect(notifiedState(form(fields), 'refund', false)).toMatchObject({
      outcome: 'pending',
      chargeId: '1505',
      reversals: [{ reversalId: '9', kind: 'refund', amountKopeks: 150 }],
    });
  });
});

describe('Check', () => {
  const order: CheckedOrder = { amountKopeks: 50_000, currency: 'RUB', merchantId: '7', isOpen: true, isExpired: false };

  function codeOf(known: CheckedOrder | null, change: Record<string, string> = {}): unknown {
    const rawBody = Buffer.from(new URLSearchParams({ ...PAY, GatewayName: '', ...change }).toString());
    const callback: ProviderCallback = {
      method: 'POST',
      subpath: 'check',
      query: {},
      ip: '127.0.0.1',
      rawBody,
      headers: { 'content-hmac': cloudpaymentsSignature(rawBody, 'test_api_secret').toString('base64') },
    };
    const verdict = receiveCloudpaymentsCallback(callback, aConnection());
    if (verdict.accepted) throw new Error('a Check is not stored');
    return JSON.parse((verdict.check?.answer(known) ?? verdict.reply).body).code;
  }

  test.each([
    ['an open order', order, {}, 0],
    ['an unknown order', null, {}, 10],
    ['no order id', order, { InvoiceId: '' }, 10],
    ['the account of another user', order, { AccountId: '8' }, 11],
    ['no account', order, { AccountId: '' }, 11],
    ['any account, where the order has none', { ...order, merchantId: null }, { AccountId: '8' }, 0],
    ['a lower amount', order, { Amount: '499.99' }, 12],
    ['a higher amount', order, { Amount: '500.01' }, 12],
    ['another currency', order, { Currency: 'USD' }, 12],
    ['a paid order', { ...order, isOpen: false }, {}, 13],
    ['a test payment', order, { TestMode: '1' }, 13],
    ['an expired order', { ...order, isExpired: true }, {}, 20],
  ] as const)('%s', (_what, known, change, code) => {
    expect(codeOf(known, change)).toBe(code);
  });
});
