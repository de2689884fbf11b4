import type { Platform } from '../core/discoverer.ts';

/** Docker's command line program, which docker and compose share. */
export const programs = ['docker'];

export const elsewhere: Partial<Record<Platform, readonly string[]>> = {
  darwin: [
    '/Applications/Docker.app/Contents/Resources/bin/docker',
    '~/.docker/bin/docker',
    '~/.orbstack/bin/docker',
  ],
  win32: ['%ProgramFiles%/Docker/Docker/resources/bin/docker.exe'],
};

export const environment = [
  'DOCKER_HOST',
  'DOCKER_CONTEXT',
  'DOCKER_CONFIG',
  'DOCKER_CERT_PATH',
  'DOCKER_TLS_VERIFY',
  'DOCKER_API_VERSION',
  'DOCKER_DEFAULT_PLATFORM',
  'XDG_RUNTIME_DIR',
];

export const hints = [
  {
    says: /Cannot connect to the Docker daemon|docker daemon is not running|error during connect/i,
    wayOut: 'Start Docker (Docker Desktop, or sudo systemctl start docker).',
  },
];
