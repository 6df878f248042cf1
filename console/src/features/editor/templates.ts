/** First jobs to start from. */
export const TEMPLATES = {
  script: `name: hello
script: |
  echo "hello from $(hostname)"
  sleep 2
  echo done
`,
  python: `name: hello-python
script:
  interpreter: python3
  text: |
    import os, time
    for step in range(5):
        print("step", step, flush=True)
        time.sleep(1)
retry: 2
timeout: 10m
`,
  cron: `name: nightly-report
script: |
  echo "report of $(date +%F)"
triggers:
  - name: nightly
    cron: 0 2 * * *
    zone: UTC
retry:
  max: 3
  backoff: exponential
timeout: 1h
concurrency: 1
`,
  params: `name: load-day
parameters:
  day:
    type: string
    default: "2026-01-31"
    description: The day to load
process:
  command: echo
  args: ["loading", "{{ day }}"]
`,
} as const;

export type TemplateName = keyof typeof TEMPLATES;
