import type { SmtpSecurity } from '../../domain/messaging/smtp-tls.ts';

/** Real mail server (spec 05 section 11.1). Configured = a host and a from address. */
export interface SmtpConnection {
  kind: 'smtp';
  host: string;
  port: number;
  user: string | null;
  password: string | null;
  fromEmail: string;
  fromName: string;
  /** STARTTLS is required. On the port of implicit TLS the connection is TLS from the start, independent of this value. */
  useTls: boolean;
  tls: SmtpSecurity['tls'];
}

/** The sandbox's mailbox, over HTTP on loopback. */
export interface SandboxMailConnection {
  kind: 'sandbox';
  baseUrl: string;
  fromEmail: string;
  fromName: string;
}

export type MailConnection = SmtpConnection | SandboxMailConnection;
