import type { Env } from '../../core/env.ts';

export interface SmtpSecurity {
  port: number;
  /** STARTTLS is required (`SMTP_USE_TLS`). */
  useTls: boolean;
  tls: Env['smtpTls'];
}

/**
 * How a connection to a mail server is secured, as options of the SMTP library (spec 05 section 11.1): on the port of implicit TLS (465) it is TLS
 * from the first byte, whatever `SMTP_USE_TLS` says; on others it begins in clear, and nothing is sent before STARTTLS while that is
 * required. The certificate must be valid for the host and signed by a known authority, unless self-signed ones are allowed.
 */
export function smtpTlsOptions({ port, useTls, tls }: SmtpSecurity) {
  const secure = port === tls.implicitPort;
  return {
    secure,
    requireTLS: !secure && useTls,
    ignoreTLS: !secure && !useTls,
    tls: { rejectUnauthorized: !tls.allowsSelfSigned, minVersion: 'TLSv1.2' as const },
  };
}
