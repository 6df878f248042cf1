// Generated from docs/openapi.json by `npm run types`; do not edit.

/** Whether a subject may do something. Tokens may be limited further than their subject is. */
export type Access = { allowed: boolean; grant?: (Grant | null); namespace?: (Namespace | null); needs?: (Role | null); operation: string; place: AccessPlace; subject: string; };

/** Where a role is needed. */
export type AccessPlace = "namespace" | "everywhere" | "signed_in" | "anyone";

/** Runs that are under way. */
export type ActiveRuns = { at_least: boolean; running: number; waiting: number; };

/** Admins who can give a role to whoever asks: those of everywhere, and those of the namespaces above and below the places where they have one. */
export type Admins = { items: Array<RoleGiver>; partial: boolean; };

/** The end of runs of another job. */
export type After = { job: Name; on?: On; };

/** A file. */
export type ArtifactInfo = { bytes: number; content_type?: string | null; created_at: Time; created_by: string; digest: Digest; expires_at?: (Time | null); name: string; namespace: Namespace; revision?: number; };

/** Some of a list, and where it goes on. */
export type ArtifactInfoPage = { items: Array<ArtifactInfo>; next_cursor?: string | null; };

/** One try of a run on one node. */
export type Attempt = { attempts_max?: number | null; cause?: (Cause | null); finished_at?: (Time | null); node?: (NodeId | null); node_name?: string | null; number: number; placed_at?: (Time | null); started_at?: (Time | null); usage?: (Usage | null); };

/** Some of a list, and where it goes on. */
export type AttemptPage = { items: Array<Attempt>; next_cursor?: string | null; };

/** A place where a chain of the audit is broken. */
export type AuditBreak = { chain: MemberId; number: number; what: string; };

/** A look at whether the audit is as it was written: each record names the hash of the one before it in its chain. */
export type AuditCheck = { breaks: Array<AuditBreak>; checked: number; from?: (Time | null); next_cursor?: string | null; until?: (Time | null); };

/** A mutating call. */
export type AuditEntry = { actor: string; at: Time; code?: string | null; detail?: string | null; from?: string | null; namespace?: string | null; operation: string; outcome: AuditOutcome; request_id?: string | null; target?: string | null; token?: string | null; };

/** Some of a list, and where it goes on. */
export type AuditEntryPage = { items: Array<AuditEntry>; next_cursor?: string | null; };

/** Whether a call was allowed. */
export type AuditOutcome = "allowed" | "denied";

/** A backfill and how far it got. */
export type Backfill = { active: Array<RunId>; at: Time; by: string; cursor?: (Time | null); ended_at?: (Time | null); failed: number; from: Time; id: BackfillId; left: number; made: number; max_active: number; order: BackfillOrder; other: number; refused: number; reprocess: Reprocess; state: BackfillState; stopped_by?: string | null; succeeded: number; trigger: string; until: Time; };

/** What happens to a moment. */
export type BackfillAction = "run" | "again" | "leave";

/** A backfill: planned moments of the past that are made up for. */
export type BackfillId = string;

/** Which moments go first. */
export type BackfillOrder = "oldest" | "newest";

/** Some of a list, and where it goes on. */
export type BackfillPage = { items: Array<Backfill>; next_cursor?: string | null; };

/** What a backfill would do. */
export type BackfillPlan = { moments: Array<PlannedMoment>; total: number; truncated: boolean; };

/** Which moments to make up for, and how. */
export type BackfillRequest = { from: Time; id?: (BackfillId | null); max_active?: number | null; order?: BackfillOrder; priority?: (Priority | null); reprocess?: Reprocess; until?: (Time | null); };

/** How a backfill is. */
export type BackfillState = "running" | "finishing" | "done" | "stopped";

/** Backfills of many triggers. */
export type Backfills = { items: Array<JobBackfill>; partial: boolean; };

/** What became of each run of a batch. */
export type BatchResult = { items: Array<SubmitOutcome>; refused: number; submitted: number; };

/** Runs to be made, at most 10,000. Each is answered for itself. */
export type BatchSubmit = { runs: Array<Submit>; };

/** What to do. */
export type BulkAction = "cancel" | "kill" | "retry" | "rerun" | "prioritise";

/** A run that the action could not be done to. */
export type BulkFailure = { code: string; detail: string; id: RunId; };

/** A bulk operation: one action on many runs. */
export type BulkId = string;

/** An action that is carried out on many runs, whether or not somebody looks. */
export type BulkOperation = { action: BulkAction; all?: boolean; by: string; created_at: Time; done: number; exact: boolean; failed: number; failures?: Array<BulkFailure>; finished_at?: (Time | null); id: BulkId; matched: number; namespace?: (Namespace | null); priority?: number | null; q?: string; state: BulkState; stopped_by?: string | null; };

/** Some of a list, and where it goes on. */
export type BulkOperationPage = { items: Array<BulkOperation>; next_cursor?: string | null; };

/** What an operation would act on. */
export type BulkPreview = { counts: RunCounts; sample: Array<RunId>; };

/** What to do, and with which runs: those of `q`, those of `runs`, or all. */
export type BulkRequest = { action: BulkAction; all?: boolean; expected_max?: number | null; preview?: boolean; priority?: (Priority | null); q?: string; runs?: Array<RunId>; };

/** How far an operation is. */
export type BulkState = "running" | "done" | "stopped";

/** A calendar. Its `ETag` is its `revision`. */
export type Calendar = { created_at: Time; name: string; namespace: Namespace; revision: number; spec: CalendarSpec; updated_at: Time; updated_by: string; };

/** The name of a calendar, or several. */
export type CalendarNames = (string | Array<string>);

/** Some of a list, and where it goes on. */
export type CalendarPage = { items: Array<Calendar>; next_cursor?: string | null; };

/** What a calendar says. Everything is read on the wall clock of the trigger that heeds it. */
export type CalendarSpec = { blackouts?: Array<string>; description?: string; off?: Array<string>; weekend?: Array<Weekday>; working?: Array<string>; };

/** A wish that a run ends. */
export type CancelRequest = { kill?: boolean; };

/** Why an attempt or a run ended. */
export type Cause = { by?: string | null; class?: string | null; exit_code?: number | null; kind: string; limit?: string | null; losses?: number | null; message: string; message_zh?: string; node?: (NodeId | null); signal?: number | null; };

/** A cell. */
export type Cell = { cell: number; epoch: number; holder?: (MemberId | null); lease_until?: (Time | null); loaded?: boolean | null; nodes?: number | null; pause?: (Pause | null); revision?: number; running?: number | null; setbacks?: number | null; waiting?: number | null; };

/** A difference. */
export type Change = { after?: unknown; before?: unknown; path: string; };

/** The cluster at a glance. */
export type Cluster = { cells: Array<Cell>; members: Array<SchedulerMember>; now: Time; software: string; };

/** A number such as `2`, `0.5` or `500m`, at most to the thousandth. */
export type Countable = (string | number);

/** A token to be made. */
export type CreateToken = { name?: string; scopes?: Array<TokenScope>; subject?: string | null; ttl?: string | null; };

/** A token that was made. */
export type CreatedToken = { secret: string; token: Token; };

/** A second in which several triggers fire. */
export type Crowd = { at: Time; count: number; times: number; triggers: Array<CrowdTrigger>; };

/** A trigger that fires with others. */
export type CrowdTrigger = { job_name: string; name: string; namespace: Namespace; spread?: (Spread | null); when: string; };

/** Where a trigger goes on from. */
export type CursorRequest = { cursor: Time; };

/** What holds when both a day of the month and a day of the week are given. */
export type Days = "or" | "and";

/** What a call of a webhook made. */
export type Delivered = { duplicate: boolean; id: RunId; };

/** A trigger that follows or needs a job. */
export type Dependent = { job: JobId; job_name: string; kind: DependentKind; trigger: string; };

/** How a trigger depends on a job. */
export type DependentKind = "follows" | "needs";

/** The jobs with triggers that follow or need a job. */
export type Dependents = { items: Array<Dependent>; partial: boolean; };

/** The same in several languages. */
export type Description = { en: string; zh: string; };

/** `sha256:` and 64 hexadecimal digits. */
export type Digest = string;

/** A look at the whole. */
export type Doctor = { at: Time; checked: Array<string>; findings: Array<Finding>; healthy: boolean; };

/** A wish to empty a node. */
export type DrainRequest = { patience?: string | null; };

/** What happens when clocks are turned. */
export type Dst = { gap?: "once" | "skip"; overlap?: "first" | "both"; };

/** A duration such as `30s`, `1h30m` or `250ms`: whole numbers with d, h, m, s, ms or us. */
export type Duration = string;

/** How bytes are written as text. */
export type Encoding = "hex" | "base64";

/** What is wrong with a field. */
export type FieldProblem = { column?: number | null; hint?: string | null; line?: number | null; message: string; path: string; };

/** Something that it found. */
export type Finding = { check: string; message: string; message_zh?: string; remedy: string; remedy_zh?: string; severity: Severity; since?: (Time | null); subject?: (FindingSubject | null); };

/** What a finding is about. */
export type FindingSubject = { id?: string | null; kind: SubjectKind; name: string; namespace?: (Namespace | null); };

/** A role in a place. */
export type Grant = { namespace?: (Namespace | null); role: Role; };

/** The process lives. */
export type Health = { status: string; };

/** A new token of a webhook. It is shown once. */
export type HookToken = { created_at: Time; id: string; path: string; secret: string; token: string; };

/** A wish for a new token of a webhook. */
export type HookTokenRequest = { secret?: string | null; };

/** Who asks, and what they may do. */
export type Identity = { admins?: Admins; expires_at?: (Time | null); grants: Array<Grant>; server?: (ServerNow | null); subject: string; token: string; };

/** A job. Its `ETag` is its `revision`. */
export type Job = { changes?: Array<Change>; created_at: Time; health?: (JobHealth | null); id: JobId; labels?: Labels; name: string; namespace: Namespace; outcome?: (PutOutcome | null); pause?: (Pause | null); revision: number; spec?: (JobSpec | null); updated_at: Time; version: number; warnings?: Array<JobWarning>; };

/** A backfill and whose it is. */
export type JobBackfill = (Backfill) & ({ job: JobId; job_name: string; namespace: Namespace; });

/** What differs between two versions. */
export type JobDiff = { changes: Array<Change>; from: number; job: JobId; to: number; };

/** How a job fares. Rate and percentiles are those of `ends` alone, not of a span of time. */
export type JobHealth = { active?: (ActiveRuns | null); ends: Array<RunEnd>; next?: (NextFiring | null); queued_ms?: (Percentiles | null); running_ms?: (Percentiles | null); success_rate?: number | null; triggers?: number | null; };

/** A job: a named, versioned specification. */
export type JobId = string;

/** What became of a planned moment, and whose it is. */
export type JobOccurrence = (Occurrence) & ({ job: JobId; job_name: string; namespace: Namespace; trigger: string; });

/** Some of a list, and where it goes on. */
export type JobPage = { items: Array<Job>; next_cursor?: string | null; };

/** What to run, where, and with which policies. */
export type JobSpec = { artifacts?: Array<JobSpecArtifact>; concurrency?: JobSpecConcurrency; delivery?: JobSpecDelivery; description?: string; dispatch?: JobSpecDispatch; handler?: JobSpecHandler; inputs?: { [key: string]: JobSpecTemplate; }; labels?: JobSpecLabels; name: JobSpecName; namespace?: JobSpecNamespace; on_disconnect?: JobSpecOnDisconnect; outputs?: { [key: string]: JobSpecTemplate; }; owner?: string; parameters?: JobSpecParameters; placement?: JobSpecPlacement; priority?: JobSpecPriority; process?: JobSpecProcess; rate_limit?: JobSpecRateLimit; resources?: JobSpecResources; retention?: JobSpecRetention; retry?: JobSpecRetry; script?: JobSpecScript; timeout?: JobSpecTimeouts; triggers?: Array<JobSpecTrigger>; } & (unknown);

/** What to do about a failure. */
export type JobSpecAction = "retry" | "fail" | "ignore";

/** A preference for nodes with certain labels. */
export type JobSpecAffinity = { selector: JobSpecSelector; weight: number; };

/** The end of runs of another job. */
export type JobSpecAfter = (string | { job: JobSpecName; on?: JobSpecOn; });

/** A file to fetch before the task starts. */
export type JobSpecArtifact = { digest: JobSpecDigest; executable?: boolean; path?: string; url?: string; };

/** The limits in time that end an attempt and not the run. */
export type JobSpecAttemptTimeout = "start" | "run" | "heartbeat";

/** How long a run waits before its next retry. */
export type JobSpecBackoff = ("none" | "fixed" | "linear" | "exponential" | "fibonacci" | { base?: JobSpecDuration; cap?: JobSpecDuration; jitter?: number; kind?: "none" | "fixed" | "linear" | "exponential" | "fibonacci"; step?: JobSpecDuration; });

/** How one of several candidates is picked. */
export type JobSpecBalancer = ("round_robin" | "random" | "weighted" | "least_active" | { consistent_hash: JobSpecTemplate; } | "least_cpu" | "least_memory" | "best_fit" | "spread" | "first" | "last" | { failover: Array<JobSpecName>; } | "sticky" | { node: JobSpecName; });

/** The name of a calendar, or several. */
export type JobSpecCalendarNames = (string | Array<string>);

/** Which failures: a word for all of its kind, or a word with a list. */
export type JobSpecCauseMatch = ("any" | "exit" | "signal" | "timeout" | "oom" | "lost" | "start_failed" | "error" | { exit: (JobSpecExitCodes | Array<JobSpecExitCodes>); } | { signal: (JobSpecSignals | Array<JobSpecSignals>); } | { timeout: (JobSpecAttemptTimeout | Array<JobSpecAttemptTimeout>); } | { error: (string | Array<string>); });

/** A limit on runs of one job that are active at once. */
export type JobSpecConcurrency = (number | { key?: JobSpecTemplate; limit?: number; overlap?: JobSpecOverlap; queue_max?: number; });

/** A number such as `2`, `0.5` or `500m`, at most to the thousandth. */
export type JobSpecCountable = (string | number);

/** What holds when both a day of the month and a day of the week are given. */
export type JobSpecDays = "or" | "and";

/** How often a run may reach a node. */
export type JobSpecDelivery = "at_most_once" | "at_least_once";

/** `sha256:` and 64 hexadecimal digits. */
export type JobSpecDigest = string;

/** To how many nodes a run goes. */
export type JobSpecDispatch = ({ balancer?: JobSpecBalancer; mode?: "unicast"; });

/** What happens when clocks are turned. */
export type JobSpecDst = { gap?: "once" | "skip"; overlap?: "first" | "both"; };

/** A duration such as `30s`, `1h30m` or `250ms`: whole numbers with d, h, m, s, ms or us. */
export type JobSpecDuration = string;

/** How bytes are written as text. */
export type JobSpecEncoding = "hex" | "base64";

/** Exit codes from 1 to 255, and ranges such as `64-78`. */
export type JobSpecExitCodes = (number | string);

/** A function in a user's own process. */
export type JobSpecHandler = (string | { name: string; });

/** What is kept; a thing goes as soon as one of the two says so. Without any, the namespace decides. */
export type JobSpecKeep = (JobSpecDuration | { age?: JobSpecDuration; count?: number; });

/** Labels by key. */
export type JobSpecLabels = { [key: string]: (string | number | boolean); };

/** What becomes of moments that passed while the trigger could not fire: nobody was there, or it was paused. */
export type JobSpecMisfire = ("skip" | "once" | "all" | { max?: number; policy?: JobSpecMisfirePolicy; window?: JobSpecDuration; });

/** Which of the moments that passed fire. */
export type JobSpecMisfirePolicy = "skip" | "once" | "all";

/** A moment with its offset, such as `2027-01-01T08:00:00+01:00`. */
export type JobSpecMoment = string;

/** Lower-case letters, digits, `-`, `_` and `.`, with a letter or digit at both ends. */
export type JobSpecName = string;

/** A path of departments, such as `acme/data/etl`. */
export type JobSpecNamespace = string;

/** A job that has to succeed first. */
export type JobSpecNeed = (string | { job: JobSpecName; within?: JobSpecDuration; });

/** Which ends count. */
export type JobSpecOn = "success" | "failure" | "any";

/** What a node does with the task when it has lost the schedulers for too long. */
export type JobSpecOnDisconnect = "stop" | "keep";

/** What happens to a new run when the limit is reached. */
export type JobSpecOverlap = ("allow" | "skip" | "queue_one" | "queue_all" | "cancel_old" | "kill_old");

/** A value that a run may or must be given. */
export type JobSpecParameter = ("string" | "integer" | "number" | "boolean" | "list" | "object" | "json" | { default?: unknown; description?: string; items?: JobSpecParameterType; max?: number; max_length?: number; min?: number; min_length?: number; required?: boolean; type: "string" | "integer" | "number" | "boolean" | "enum" | "list" | "object" | "json"; values?: Array<string>; });

/** What values a parameter takes. */
export type JobSpecParameterType = ("string" | "integer" | "number" | "boolean" | "list" | "object" | "json" | ({ max_length?: number; min_length?: number; type: "string"; } | { max?: number; min?: number; type: "integer"; } | { max?: number; min?: number; type: "number"; } | { type: "boolean"; } | { type: "enum"; values: Array<string>; } | { items?: JobSpecParameterType; max_length?: number; min_length?: number; type: "list"; } | { type: "object"; } | { type: "json"; }));

/** The parameters of a job, by name. */
export type JobSpecParameters = { [key: string]: JobSpecParameter; };

/** Which nodes may run a job, and which of them are preferred. */
export type JobSpecPlacement = { affinity?: Array<JobSpecAffinity>; pool?: JobSpecName; selector?: JobSpecSelector; spread?: string; sticky?: JobSpecSticky; };

/** How urgent a run is. */
export type JobSpecPriority = (JobSpecPriorityClass | { class?: JobSpecPriorityClass; level?: number; });

/** The classes, least urgent first. */
export type JobSpecPriorityClass = "spare" | "deferrable" | "standard" | "service";

/** A program with its arguments and surroundings. */
export type JobSpecProcess = (string | { args?: Array<JobSpecTemplate>; command: JobSpecTemplate; cwd?: JobSpecTemplate; env?: { [key: string]: JobSpecTemplate; }; limits?: JobSpecProcessLimits; stdin?: JobSpecTemplate; umask?: JobSpecUmask; user?: string; });

/** Limits of each process of a task, but for `processes`, which is one of all of them; what is not given is the agent's own. */
export type JobSpecProcessLimits = { address_space?: JobSpecSize; core?: JobSpecSize; cpu_time?: JobSpecDuration; file_size?: JobSpecSize; locked_memory?: JobSpecSize; open_files?: number; processes?: number; stack?: JobSpecSize; };

/** At most `limit` starts in any window of length `per` (I21). */
export type JobSpecRateLimit = { key?: JobSpecTemplate; limit: number; per: JobSpecDuration; };

/** An amount of each resource; what is not mentioned is zero. */
export type JobSpecResources = { cpu?: JobSpecCountable; memory?: JobSpecSize; named?: { [key: string]: JobSpecCountable; }; };

/** How long the history of a job is kept. */
export type JobSpecRetention = { runs?: JobSpecKeep; };

/** What happens when an attempt fails. */
export type JobSpecRetry = (number | { backoff?: JobSpecBackoff; max?: number; max_elapsed?: JobSpecDuration; node?: JobSpecRetryNode; rules?: Array<JobSpecRule>; });

/** Where a retry goes. */
export type JobSpecRetryNode = "same" | "other" | "other_unless_only_one";

/** What to do about one kind of failure. */
export type JobSpecRule = { cause: JobSpecCauseMatch; then: JobSpecAction; };

/** Text for an interpreter, with its surroundings. */
export type JobSpecScript = (string | { args?: Array<JobSpecTemplate>; cwd?: JobSpecTemplate; env?: { [key: string]: JobSpecTemplate; }; interpreter?: (string | Array<string>); limits?: JobSpecProcessLimits; stdin?: JobSpecTemplate; text: string; umask?: JobSpecUmask; user?: string; });

/** Labels that a node must carry: `zone=eu, disk in (ssd,nvme), gpu, !spot`, or a map. */
export type JobSpecSelector = (string | { [key: string]: (((string | number | boolean) | Array<(string | number | boolean)>) | { not: ((string | number | boolean) | Array<(string | number | boolean)>); } | { exists: boolean; }); });

/** A signal by name or number. */
export type JobSpecSignals = ("SIGHUP" | "SIGINT" | "SIGQUIT" | "SIGILL" | "SIGTRAP" | "SIGABRT" | "SIGBUS" | "SIGFPE" | "SIGKILL" | "SIGUSR1" | "SIGSEGV" | "SIGUSR2" | "SIGPIPE" | "SIGALRM" | "SIGTERM" | number);

/** How callers sign the body: HMAC-SHA256 with the trigger's secret. */
export type JobSpecSignature = { encoding?: JobSpecEncoding; header: string; prefix?: string; };

/** A size such as `256Mi`, `1.5Gi` or `1G`, or a number of bytes. */
export type JobSpecSize = (string | number);

/** How strongly a run returns to the node of the job's last successful run. */
export type JobSpecSticky = "prefer" | "require";

/** Text, rendered with the run's parameters: `{{ params.day }}`. */
export type JobSpecTemplate = (string | number | boolean);

/** Limits in time; what is not given does not end a run. */
export type JobSpecTimeouts = (JobSpecDuration | { heartbeat?: JobSpecDuration; queue?: JobSpecDuration; run?: JobSpecDuration; start?: JobSpecDuration; stop_grace?: JobSpecDuration; total?: JobSpecDuration; });

/** When a job fires by itself. */
export type JobSpecTrigger = { after?: JobSpecAfter; at?: JobSpecMoment; calendar?: JobSpecCalendarNames; count?: number; cron?: string; days?: JobSpecDays; delay?: JobSpecDuration; dst?: JobSpecDst; every?: JobSpecDuration; from?: JobSpecMoment; jitter?: JobSpecDuration; misfire?: JobSpecMisfire; name?: JobSpecName; needs?: (JobSpecNeed | Array<JobSpecNeed>); offset?: JobSpecDuration; parameters?: { [key: string]: unknown; }; pause_after?: number; until?: JobSpecMoment; webhook?: JobSpecWebhook; zone?: string; } & (unknown);

/** The mode mask of new files: three octal digits such as `027`. */
export type JobSpecUmask = string;

/** Calls of a URL with a token of its own. */
export type JobSpecWebhook = { dedupe?: string; signature?: JobSpecSignature; };

/** A trigger of a job. Its `ETag` is its `revision`. */
export type JobTrigger = { cursor: Time; description: Description; failures: number; fired: number; fires_at?: (Time | null); job: JobId; job_name: string; job_pause?: (Pause | null); last_run?: (RunId | null); missing_jobs?: Array<string>; name: string; namespace: Namespace; next?: (Time | null); pause?: (Pause | null); revision: number; spec: Trigger; version: number; waits_for?: string | null; };

/** Some of a list, and where it goes on. */
export type JobTriggerPage = { items: Array<JobTrigger>; next_cursor?: string | null; };

/** A version of a job; it never changes. */
export type JobVersion = { created_at: Time; created_by: string; job: JobId; note?: string; origin?: (VersionOrigin | null); source?: (VersionSource | null); spec: JobSpec; version: number; };

/** Some of a list, and where it goes on. */
export type JobVersionPage = { items: Array<JobVersion>; next_cursor?: string | null; };

/** Something in a specification that is accepted although it is probably a mistake. */
export type JobWarning = { message: string; missing_job?: string | null; path: string; };

/** A token with which one node joins once. */
export type JoinToken = { expires_at: Time; pool?: string | null; token: string; };

/** What a join token is good for. */
export type JoinTokenRequest = { pool?: string | null; ttl?: string | null; };

/** Labels by key. */
export type Labels = { [key: string]: (string | number | boolean); };

/** How much of a dimension is asked for and how much there is. */
export type LackingAmount = { dimension: string; has: number; wanted: number; };

/** What is planned, by hour and pool. Paused triggers and triggers of paused jobs plan nothing. */
export type LoadReport = { crowds: Array<Crowd>; firings: number; following: number; from: Time; pools: Array<PoolLoad>; triggers: number; truncated: boolean; until: Time; };

/** Output that is missing. */
export type LogGap = { bytes: number; offset: number; };

/** Places in a log. */
export type LogIndex = { attempt: number; ended: boolean; gaps: Array<LogGap>; length: number; lines: number; marks: Array<LogMark>; partial: boolean; };

/** A line of output, or what there is of it. */
export type LogLine = { at: Time; base64?: string | null; gap_bytes?: number | null; offset: number; stream: LogStream; text: string; };

/** A place from where a log can be read. */
export type LogMark = { at: Time; line: number; offset: number; open?: Array<LogStream>; };

/** A line that matches. */
export type LogMatch = { at: Time; index: number; line: number; offset: number; stream: LogStream; text: string; };

/** Lines of a log that match. */
export type LogMatches = { attempt: number; count: number; ended: boolean; gaps_bytes: number; length: number; matches: Array<LogMatch>; next_offset?: number | null; searched_bytes: number; };

/** A part of a log. */
export type LogPage = { attempt: number; ended: boolean; length: number; lines: Array<LogLine>; next_offset: number; };

/** Where a line came from. */
export type LogStream = "stdout" | "stderr" | "system";

/** A code that opens one session once. */
export type LoginCode = { code: string; expires_at: Time; path: string; };

/** A login code to be made, for oneself. */
export type LoginCodeRequest = { ttl?: string | null; };

/** A role that somebody has. Its `ETag` is its `revision`. */
export type Member = { granted_at: Time; granted_by: string; namespace?: (Namespace | null); revision: number; role: Role; subject: string; };

/** A member: one scheduler process of the cluster. */
export type MemberId = string;

/** Some of a list, and where it goes on. */
export type MemberPage = { items: Array<Member>; next_cursor?: string | null; };

/** What becomes of moments that passed while the trigger could not fire: nobody was there, or it was paused. */
export type Misfire = { max?: number; policy?: MisfirePolicy; window?: Duration; };

/** Which of the moments that passed fire. */
export type MisfirePolicy = "skip" | "once" | "all";

/** A moment with its offset, such as `2027-01-01T08:00:00+01:00`. */
export type Moment = string;

/** Lower-case letters, digits, `-`, `_` and `.`, with a letter or digit at both ends. */
export type Name = string;

/** A path of departments, such as `acme/data/etl`. */
export type Namespace = string;

/** Runs of a namespace, without those below it. */
export type NamespaceCount = { count: number; namespace: Namespace; };

/** A namespace. Its `ETag` is its `revision`. */
export type NamespaceInfo = { created_at: Time; created_by: string; description: string; path: Namespace; revision: number; updated_at: Time; };

/** Some of a list, and where it goes on. */
export type NamespaceInfoPage = { items: Array<NamespaceInfo>; next_cursor?: string | null; };

/** A job that has to succeed first. */
export type Need = { job: Name; within?: Duration; };

/** A planned moment that comes next. */
export type NextFiring = { fires_at: Time; planned: Time; trigger: string; };

/** A node. Its `ETag` is its `revision`. */
export type Node = { agent_version?: string | null; assigned_labels?: Labels; capacity: Resources; cell: number; connected?: boolean | null; cpu_used_milli?: number | null; drain_deadline?: (Time | null); handlers?: Array<string>; id: NodeId; joined_at: Time; labels: Labels; load?: (NodeLoad | null); memory_used_bytes?: number | null; name: string; pool: string; reduced?: boolean; reserved?: (Resources | null); revision: number; running?: number | null; seen_at?: (Time | null); slots: number; state: NodeState; updated_at: Time; weight: number; };

/** What keeps a node from taking work. */
export type NodeAway = "lost" | "silent" | "draining" | "leaving" | "left" | "overbooked" | "failed" | "unwell";

/** A node: a machine or process that can execute. */
export type NodeId = string;

/** Labels to lay over those that a node gives itself; what is not named here goes. */
export type NodeLabels = { labels: Labels; };

/** What a node may lack for a run; each is looked at when those before it are met. */
export type NodeLackKind = "pool" | "name" | "selector" | "handler" | "bound" | "capacity" | "available" | "suspect" | "room";

/** What a node used, minute by minute. It is in the memory of its cell's owner, and begins anew with another one. */
export type NodeLoad = { cpu_milli: Array<number | null>; memory_bytes: Array<number | null>; running: Array<number | null>; until: Time; };

/** Some of a list, and where it goes on. */
export type NodePage = { items: Array<Node>; next_cursor?: string | null; };

/** Whether a node takes work. */
export type NodeState = "up" | "draining" | "lost" | "left";

/** What keeps one node from taking a run. */
export type NodeVerdict = { amount?: (LackingAmount | null); away?: (NodeAway | null); has?: string | null; id: NodeId; lacks: NodeLackKind; name: string; pool: string; wanted?: string | null; };

/** A few words with a pause or a resumption. */
export type NoteRequest = { note?: string; };

/** What became of a planned moment, or of several in a row. */
export type Occurrence = { at: Time; backfill?: (BackfillId | null); count?: number | null; late_ms: number; outcome: OccurrenceOutcome; planned: Time; reason?: string; run?: (RunId | null); through?: (Time | null); };

/** How many planned moments became what. What somebody fired by hand, and what backfills made up for, is not counted. */
export type OccurrenceCounts = { fired: number; late: number; merged: number; missed: number; partial: boolean; skipped: number; };

/** What became of a planned moment. */
export type OccurrenceOutcome = "fired" | "merged" | "skipped" | "missed";

/** Some of a list, and where it goes on. */
export type OccurrencePage = { items: Array<Occurrence>; next_cursor?: string | null; };

/** What became of planned moments of many triggers. */
export type Occurrences = { items: Array<JobOccurrence>; next_cursor?: string | null; partial: boolean; };

/** Which ends count. */
export type On = "success" | "failure" | "any";

/** A pause. */
export type Pause = { at: Time; by: string; note: string; };

/** A wish that a cell starts nothing (or, when it is resumed, that it starts again). */
export type PauseCell = { note?: string; };

/** Percentiles of so many values, each a value that was seen (nearest rank). */
export type Percentiles = { p50: number; p95: number; samples: number; };

/** A planned moment. */
export type Planned = { at: Time; fires_at?: (Time | null); local: string; note?: string; };

/** What a backfill would do about a moment. */
export type PlannedMoment = { action: BackfillAction; local: string; planned: Time; run?: (RunId | null); };

/** Nodes of one name, added up. */
export type Pool = { capacity: Resources; cpu_used_milli?: number; memory_used_bytes?: number; name: string; nodes: { [key: string]: number; }; reserved?: Resources; running: number; slots: number; };

/** What is planned for a pool. */
export type PoolLoad = { busy_ms: Array<number>; firings: Array<number>; pool: string; };

/** Some of a list, and where it goes on. */
export type PoolPage = { items: Array<Pool>; next_cursor?: string | null; };

/** What a trigger would do. */
export type Preview = { description: Description; moments: Array<Planned>; zone: string; };

export type Priority = JobSpecPriority;

/** A wish that a run is more or less important. */
export type PriorityRequest = { priority: Priority; };

/** An error. */
export type Problem = { code: string; detail: string; errors?: Array<FieldProblem>; instance?: string | null; request_id?: string | null; retry: string; status: number; title: string; title_zh?: string; type: string; };

/** How far a task says it is. */
export type Progress = { fraction: number; message: string; };

/** The role that somebody shall have. */
export type PutMember = { role: Role; };

/** What a namespace shall be. */
export type PutNamespace = { description?: string; };

/** What became of a `PUT`. With `dry_run=true`, what would. */
export type PutOutcome = "created" | "updated" | "unchanged";

/** What waits, from the memory of the owners. */
export type Queue = { at: Time; items: Array<QueueItem>; partial: boolean; unanswered?: Array<number>; waiting: number; };

/** Runs of one job that wait for the same thing. */
export type QueueItem = { count: number; first: RunId; job: JobId; job_name: string; namespace: Namespace; oldest: Time; pool: string; reason: Reason; };

/** Whether the process takes requests. */
export type Readiness = { ready: boolean; waits_for?: Array<string>; };

/** Why a run waits. */
export type Reason = { attempts_max?: number | null; away?: { [key: string]: number; }; by?: string | null; key?: string | null; kind: string; lacks?: string | null; limit?: number | null; losses?: number | null; message: string; message_zh?: string; most?: string | null; next_attempt?: number | null; node?: string | null; nodes?: number | null; note?: string | null; pool?: string | null; position?: number | null; remedy: string; remedy_zh?: string; running?: number | null; until?: (Time | null); wanted?: string | null; };

/** What becomes of moments that had a run before. */
export type Reprocess = "none" | "failed" | "all";

/** The same again, as a new run. */
export type RerunRequest = { force?: boolean; idempotency_key?: string | null; latest?: boolean; params?: Record<string, unknown> | null; };

/** An amount of each resource; what is not mentioned is zero. */
export type Resources = { cpu?: Countable; memory?: Size; named?: { [key: string]: Countable; }; };

/** What somebody may do, each role more than the one before. */
export type Role = "viewer" | "operator" | "editor" | "admin";

/** Somebody who can give roles. */
export type RoleGiver = { namespace?: (Namespace | null); subject: string; };

/** A run. Its `ETag` is its `version`. */
export type Run = { ad_hoc: boolean; attempt: number; attempts_max?: number | null; cancel_requested_by?: string | null; cause?: (Cause | null); created_at: Time; deadline?: (Time | null); eligible_at?: (Time | null); finished_at?: (Time | null); id: RunId; idempotency_key?: string | null; job: JobId; job_name?: string | null; job_version: number; labels?: Labels; logical_time?: (Time | null); losses: number; maybe_doubled?: boolean; namespace: Namespace; node?: (NodeId | null); node_name?: string | null; not_before?: (Time | null); params?: unknown; placed_at?: (Time | null); priority: number; progress?: (Progress | null); reason?: (Reason | null); result?: unknown; started_at?: (Time | null); state: RunState; submitted_by: string; trigger?: string | null; usage?: (Usage | null); version: number; };

/** How many runs a query finds. */
export type RunCounts = { exact: boolean; matched: number; namespaces: Array<NamespaceCount>; oldest_active?: (Time | null); searched_to?: (Time | null); states: { [key: string]: number; }; };

/** The end of a run, in short. */
export type RunEnd = { ended_at?: (Time | null); run: RunId; state: RunState; took_ms?: number | null; };

/** A run: one execution of a job version. */
export type RunId = string;

/** Runs of a list, in its order. */
export type RunPage = { items: Array<Run>; next_cursor?: string | null; prev_cursor?: string | null; searched_to?: (Time | null); };

/** Where a run is. The numbers are what stores keep; they never change. */
export type RunState = "ready" | "waiting" | "running" | "failed" | "success" | "final_failed" | "cancelled" | "skipped";

/** A scheduler. */
export type SchedulerMember = { address: string; id: MemberId; load: number; seen_at: Time; software: string; };

/** The steps of a job or of a namespace. */
export type SeriesGroup = { job?: (JobId | null); job_name?: string | null; namespace: Namespace; points: Array<SeriesPoint>; };

/** One step. */
export type SeriesPoint = { at: Time; cancelled: number; final_failed: number; queued_ms?: (Percentiles | null); queued_ms_mean?: number | null; running_ms?: (Percentiles | null); running_ms_mean?: number | null; skipped: number; success: number; };

/** A server at the moment of its answer. */
export type ServerNow = { now: Time; software: string; };

/** A session. Its secret is in the cookie only. */
export type Session = { expires_at: Time; identity: Identity; };

/** What a session is asked with: exactly one of the two. */
export type SessionRequest = { code?: string | null; token?: string | null; };

/** A setting. */
export type Setting = { group: string; name: string; value?: string | null; };

/** The settings in force of the server that answers. Credentials in URLs are left out. */
export type Settings = { member: MemberId; settings: Array<Setting>; software: string; };

/** How bad something is. */
export type Severity = "failure" | "warning" | "note";

/** How callers sign the body: HMAC-SHA256 with the trigger's secret. */
export type Signature = { encoding?: Encoding; header: string; prefix?: string; };

/** A size such as `256Mi`, `1.5Gi` or `1G`, or a number of bytes. */
export type Size = (string | number);

/** A field of a trigger that would take it out of a crowd. */
export type Spread = { field: string; value: string; };

/** One hour of one job. */
export type StatsHour = (StatsTotals) & ({ hour: Time; job: JobId; namespace: Namespace; });

/** Roll-ups of a span of time. */
export type StatsReport = { from: Time; hours: Array<StatsHour>; total: StatsTotals; truncated: boolean; until: Time; };

/** How runs ended step by step. */
export type StatsSeries = { from: Time; groups: Array<SeriesGroup>; partial: boolean; points: Array<SeriesPoint>; step_s: number; total: StatsTotals; until: Time; };

/** What is counted. */
export type StatsTotals = { attempts: number; cancelled: number; final_failed: number; queued_ms_mean: number; running_ms_mean: number; skipped: number; success: number; };

/** What findings are about. */
export type SubjectKind = "cell" | "job" | "node" | "pool" | "run" | "scheduler";

/** A run to be made: of a job (`job`), or of a specification of its own (`spec`). Exactly one of the two. */
export type Submit = { deadline?: (Time | null); force?: boolean; idempotency_key?: string | null; job?: string | null; namespace?: (Namespace | null); not_before?: (Time | null); params?: Record<string, unknown> | null; priority?: (Priority | null); spec?: (JobSpec | null); version?: number | null; };

/** What became of a run of a batch. */
export type SubmitOutcome = ({ duplicate: boolean; id: RunId; outcome: "submitted"; } | { code: string; detail: string; errors?: Array<FieldProblem>; outcome: "refused"; });

/** A run that is durable. */
export type Submitted = { duplicate: boolean; id: RunId; job: JobId; job_version: number; namespace: Namespace; };

/** A moment, RFC 3339. */
export type Time = string;

/** Something that happened to a run. */
export type TimelineEntry = { at: Time; attempt?: number | null; by?: string | null; cause?: (Cause | null); kind: TimelineKind; message: string; message_zh?: string; node?: (NodeId | null); };

/** Some of a list, and where it goes on. */
export type TimelineEntryPage = { items: Array<TimelineEntry>; next_cursor?: string | null; };

/** What happened. */
export type TimelineKind = "accepted" | "queued" | "placed" | "started" | "cancel_requested" | "retried_now" | "prioritised" | "node_lost" | "reattached" | "handed_over" | "maybe_doubled" | "overlapped" | "attempt_ended" | "ended";

/** A token, without its secret. Its `ETag` is its `revision`. */
export type Token = { created_at: Time; created_by: string; expires_at?: (Time | null); from?: string | null; id: string; kind: TokenKind; last_used_at?: (Time | null); name: string; revision: number; scopes: Array<TokenScope>; subject: string; };

/** What a token is. */
export type TokenKind = "api" | "session";

/** Some of a list, and where it goes on. */
export type TokenPage = { items: Array<Token>; next_cursor?: string | null; };

/** What a token is limited to. */
export type TokenScope = { namespace?: (Namespace | null); role: Role; };

/** When a job fires by itself. */
export type Trigger = (When) & ({ calendar?: (CalendarNames | null); count?: number | null; from?: (Moment | null); jitter?: Duration; misfire?: Misfire; name: Name; needs?: Array<Need>; parameters?: { [key: string]: unknown; }; pause_after?: number | null; until?: (Moment | null); });

/** What an attempt used. */
export type Usage = { cpu_us: number; memory_peak_bytes: number; };

/** What is wrong with a job file, and what is odd about it. */
export type Validation = { problems: Array<FieldProblem>; spec?: (JobSpec | null); valid: boolean; warnings: Array<JobWarning>; };

/** With what a version was put. */
export type VersionOrigin = "api" | "cli" | "console" | "git";

/** The text of a version. */
export type VersionSource = { media_type: string; text: string; };

/** Calls of a URL with a token of its own. */
export type Webhook = { dedupe?: string | null; signature?: (Signature | null); };

/** A day of the week. */
export type Weekday = "sun" | "mon" | "tue" | "wed" | "thu" | "fri" | "sat";

/** What a trigger follows. */
export type When = ({ cron: string; days?: Days; dst?: (Dst | null); zone?: string; } | { every: Duration; offset?: Duration; } | { delay: Duration; } | { at: Moment; } | { after: After; } | { webhook: Webhook; });

/** Why a run is where it is, with what would unblock it. */
export type Why = { actions?: Array<WhyAction>; cause?: (Cause | null); id: RunId; live: boolean; nodes?: Array<NodeVerdict>; reason?: (Reason | null); state: RunState; summary: string; summary_zh?: string; };

/** A request that would help a run on. */
export type WhyAction = { allowed: boolean; body?: Record<string, unknown> | null; field?: string | null; method: string; operation: string; path: string; target?: string | null; };

/** Parameters, body and answer of each operation. */
export interface Operations {
  front: { path: Record<never, never>; query: Record<never, never>; body: undefined; answer: unknown };
  manual: { path: Record<never, never>; query: Record<never, never>; body: undefined; answer: unknown };
  health: { path: Record<never, never>; query: Record<never, never>; body: undefined; answer: Health };
  schema: { path: Record<never, never>; query: Record<never, never>; body: undefined; answer: Record<string, unknown> };
  ready: { path: Record<never, never>; query: Record<never, never>; body: undefined; answer: Readiness };
  access_get: { path: Record<never, never>; query: { subject: string; operation: string; namespace?: Namespace; }; body: undefined; answer: Access };
  artifact_list: { path: Record<never, never>; query: { namespace?: Namespace; limit?: number; cursor?: string; }; body: undefined; answer: ArtifactInfoPage };
  artifact_put: { path: Record<never, never>; query: { namespace?: Namespace; name?: string; ttl?: string; digest?: Digest; }; body: undefined; answer: ArtifactInfo };
  artifact_delete: { path: { digest: string; }; query: { namespace?: Namespace; }; body: undefined; answer: unknown };
  artifact_get: { path: { digest: string; }; query: { namespace?: Namespace; }; body: undefined; answer: ArtifactInfo };
  artifact_content: { path: { digest: string; }; query: { namespace?: Namespace; }; body: undefined; answer: unknown };
  audit_list: { path: Record<never, never>; query: { namespace?: Namespace; actor?: string; operation?: string; target?: string; from?: string; until?: string; limit?: number; cursor?: string; }; body: undefined; answer: AuditEntryPage };
  audit_verify: { path: Record<never, never>; query: { cursor?: string; }; body: undefined; answer: AuditCheck };
  backfill_list_all: { path: Record<never, never>; query: { namespace?: Namespace; state?: "running" | "finishing" | "done" | "stopped"; limit?: number; }; body: undefined; answer: Backfills };
  calendar_list: { path: Record<never, never>; query: { namespace?: Namespace; limit?: number; cursor?: string; }; body: undefined; answer: CalendarPage };
  calendar_delete: { path: { calendar: string; }; query: { namespace?: Namespace; }; body: undefined; answer: unknown };
  calendar_get: { path: { calendar: string; }; query: { namespace?: Namespace; }; body: undefined; answer: Calendar };
  calendar_put: { path: { calendar: string; }; query: { namespace?: Namespace; }; body: CalendarSpec; answer: Calendar };
  cell_pause: { path: { cell: number; }; query: Record<never, never>; body: PauseCell | undefined; answer: Cell };
  cell_resume: { path: { cell: number; }; query: Record<never, never>; body: PauseCell | undefined; answer: Cell };
  cluster_get: { path: Record<never, never>; query: Record<never, never>; body: undefined; answer: Cluster };
  doctor: { path: Record<never, never>; query: Record<never, never>; body: undefined; answer: Doctor };
  hook_call: { path: { token: string; }; query: Record<never, never>; body: unknown | undefined; answer: Delivered };
  job_list: { path: Record<never, never>; query: { namespace?: Namespace; q?: string; label?: string; order?: "id" | "name"; with?: "health"; spec?: boolean; limit?: number; cursor?: string; }; body: undefined; answer: JobPage };
  job_validate: { path: Record<never, never>; query: { namespace?: Namespace; job?: string; }; body: JobSpec; answer: Validation };
  job_delete: { path: { job: string; }; query: { namespace?: Namespace; }; body: undefined; answer: unknown };
  job_get: { path: { job: string; }; query: { namespace?: Namespace; }; body: undefined; answer: Job };
  job_put: { path: { job: string; }; query: { namespace?: Namespace; dry_run?: boolean; note?: string; origin?: "api" | "cli" | "console" | "git"; }; body: JobSpec; answer: Job };
  job_confirm: { path: { job: string; }; query: { namespace?: Namespace; }; body: undefined; answer: unknown };
  job_dependents: { path: { job: string; }; query: { namespace?: Namespace; }; body: undefined; answer: Dependents };
  job_diff: { path: { job: string; }; query: { namespace?: Namespace; from?: number; to?: number; }; body: undefined; answer: JobDiff };
  job_pause: { path: { job: string; }; query: { namespace?: Namespace; }; body: NoteRequest | undefined; answer: Job };
  job_resume: { path: { job: string; }; query: { namespace?: Namespace; }; body: NoteRequest | undefined; answer: Job };
  job_triggers: { path: { job: string; }; query: { namespace?: Namespace; }; body: undefined; answer: JobTriggerPage };
  trigger_get: { path: { job: string; trigger: string; }; query: { namespace?: Namespace; }; body: undefined; answer: JobTrigger };
  backfill_list: { path: { job: string; trigger: string; }; query: { namespace?: Namespace; }; body: undefined; answer: BackfillPage };
  backfill_start: { path: { job: string; trigger: string; }; query: { namespace?: Namespace; }; body: BackfillRequest; answer: Backfill };
  backfill_plan: { path: { job: string; trigger: string; }; query: { namespace?: Namespace; from: Time; until?: Time; order?: BackfillOrder; reprocess?: Reprocess; }; body: undefined; answer: BackfillPlan };
  backfill_stop: { path: { job: string; trigger: string; backfill: string; }; query: { namespace?: Namespace; }; body: undefined; answer: Backfill };
  trigger_cursor: { path: { job: string; trigger: string; }; query: { namespace?: Namespace; }; body: CursorRequest; answer: JobTrigger };
  trigger_fire: { path: { job: string; trigger: string; }; query: { namespace?: Namespace; }; body: undefined; answer: Submitted };
  trigger_history: { path: { job: string; trigger: string; }; query: { namespace?: Namespace; from?: string; until?: string; outcome?: "fired" | "merged" | "skipped" | "missed"; limit?: number; cursor?: string; }; body: undefined; answer: OccurrencePage };
  trigger_pause: { path: { job: string; trigger: string; }; query: { namespace?: Namespace; }; body: NoteRequest | undefined; answer: JobTrigger };
  trigger_resume: { path: { job: string; trigger: string; }; query: { namespace?: Namespace; }; body: NoteRequest | undefined; answer: JobTrigger };
  trigger_revoke: { path: { job: string; trigger: string; }; query: { namespace?: Namespace; }; body: undefined; answer: unknown };
  trigger_token: { path: { job: string; trigger: string; }; query: { namespace?: Namespace; }; body: HookTokenRequest | undefined; answer: HookToken };
  job_versions: { path: { job: string; }; query: { namespace?: Namespace; limit?: number; cursor?: string; }; body: undefined; answer: JobVersionPage };
  job_version: { path: { job: string; version: number; }; query: { namespace?: Namespace; }; body: undefined; answer: JobVersion };
  node_invite: { path: Record<never, never>; query: Record<never, never>; body: JoinTokenRequest | undefined; answer: JoinToken };
  login_code_create: { path: Record<never, never>; query: Record<never, never>; body: LoginCodeRequest | undefined; answer: LoginCode };
  me: { path: Record<never, never>; query: Record<never, never>; body: undefined; answer: Identity };
  member_list: { path: Record<never, never>; query: { namespace?: Namespace; limit?: number; cursor?: string; }; body: undefined; answer: MemberPage };
  member_delete: { path: { subject: string; }; query: { namespace?: Namespace; }; body: undefined; answer: unknown };
  member_get: { path: { subject: string; }; query: { namespace?: Namespace; }; body: undefined; answer: Member };
  member_put: { path: { subject: string; }; query: { namespace?: Namespace; }; body: PutMember; answer: Member };
  namespace_list: { path: Record<never, never>; query: { namespace?: Namespace; limit?: number; cursor?: string; }; body: undefined; answer: NamespaceInfoPage };
  namespace_delete: { path: { namespace: string; }; query: Record<never, never>; body: undefined; answer: unknown };
  namespace_get: { path: { namespace: string; }; query: Record<never, never>; body: undefined; answer: NamespaceInfo };
  namespace_put: { path: { namespace: string; }; query: Record<never, never>; body: PutNamespace | undefined; answer: NamespaceInfo };
  node_list: { path: Record<never, never>; query: { pool?: string; state?: string; namespace?: Namespace; with?: string; limit?: number; cursor?: string; }; body: undefined; answer: NodePage };
  node_remove: { path: { node: string; }; query: Record<never, never>; body: undefined; answer: unknown };
  node_get: { path: { node: string; }; query: Record<never, never>; body: undefined; answer: Node };
  node_drain: { path: { node: string; }; query: Record<never, never>; body: DrainRequest | undefined; answer: Node };
  node_label: { path: { node: string; }; query: Record<never, never>; body: NodeLabels; answer: Node };
  node_lose: { path: { node: string; }; query: Record<never, never>; body: undefined; answer: Node };
  node_resume: { path: { node: string; }; query: Record<never, never>; body: undefined; answer: Node };
  occurrence_list: { path: Record<never, never>; query: { namespace?: Namespace; from?: string; until?: string; outcome?: "fired" | "merged" | "skipped" | "missed"; limit?: number; cursor?: string; }; body: undefined; answer: Occurrences };
  occurrence_count: { path: Record<never, never>; query: { namespace?: Namespace; from?: string; until?: string; late_ms?: number; }; body: undefined; answer: OccurrenceCounts };
  pool_list: { path: Record<never, never>; query: { namespace?: Namespace; }; body: undefined; answer: PoolPage };
  queue: { path: Record<never, never>; query: { namespace?: Namespace; }; body: undefined; answer: Queue };
  run_list: { path: Record<never, never>; query: { q?: string; namespace?: Namespace; order?: "-created" | "created"; limit?: number; cursor?: string; }; body: undefined; answer: RunPage };
  run_submit: { path: Record<never, never>; query: { namespace?: Namespace; }; body: Submit; answer: Submitted };
  run_batch: { path: Record<never, never>; query: { namespace?: Namespace; }; body: BatchSubmit; answer: BatchResult };
  bulk_list: { path: Record<never, never>; query: { namespace?: Namespace; limit?: number; cursor?: string; }; body: undefined; answer: BulkOperationPage };
  run_bulk: { path: Record<never, never>; query: { namespace?: Namespace; }; body: BulkRequest; answer: BulkPreview | BulkOperation };
  bulk_get: { path: { operation: string; }; query: Record<never, never>; body: undefined; answer: BulkOperation };
  bulk_stop: { path: { operation: string; }; query: Record<never, never>; body: undefined; answer: BulkOperation };
  run_counts: { path: Record<never, never>; query: { q?: string; namespace?: Namespace; }; body: undefined; answer: RunCounts };
  run_get: { path: { run: string; }; query: Record<never, never>; body: undefined; answer: Run };
  run_attempts: { path: { run: string; }; query: Record<never, never>; body: undefined; answer: AttemptPage };
  run_cancel: { path: { run: string; }; query: Record<never, never>; body: CancelRequest | undefined; answer: Run };
  run_logs: { path: { run: string; }; query: { attempt?: number; offset?: number; limit?: number; stream?: "stdout" | "stderr" | "system"; follow?: boolean; last_event_id?: string; }; body: undefined; answer: LogPage };
  run_log_index: { path: { run: string; }; query: { attempt?: number; }; body: undefined; answer: LogIndex };
  run_log_search: { path: { run: string; }; query: { attempt?: number; text: string; regex?: boolean; case?: boolean; stream?: "stdout" | "stderr" | "system"; offset?: number; index?: number; limit?: number; }; body: undefined; answer: LogMatches };
  run_prioritise: { path: { run: string; }; query: Record<never, never>; body: PriorityRequest; answer: Run };
  run_rerun: { path: { run: string; }; query: Record<never, never>; body: RerunRequest | undefined; answer: Submitted };
  run_retry: { path: { run: string; }; query: Record<never, never>; body: undefined; answer: Run };
  run_spec: { path: { run: string; }; query: Record<never, never>; body: undefined; answer: JobSpec };
  run_timeline: { path: { run: string; }; query: Record<never, never>; body: undefined; answer: TimelineEntryPage };
  run_why: { path: { run: string; }; query: Record<never, never>; body: undefined; answer: Why };
  session_delete: { path: Record<never, never>; query: Record<never, never>; body: undefined; answer: unknown };
  session_create: { path: Record<never, never>; query: Record<never, never>; body: SessionRequest; answer: Session };
  settings_get: { path: Record<never, never>; query: Record<never, never>; body: undefined; answer: Settings };
  stats: { path: Record<never, never>; query: { namespace?: Namespace; job?: string; from?: string; until?: string; }; body: undefined; answer: StatsReport };
  stats_series: { path: Record<never, never>; query: { namespace?: Namespace; job?: string; from?: string; until?: string; step?: string; by?: "job" | "namespace"; }; body: undefined; answer: StatsSeries };
  token_list: { path: Record<never, never>; query: { all?: boolean; limit?: number; cursor?: string; }; body: undefined; answer: TokenPage };
  token_create: { path: Record<never, never>; query: Record<never, never>; body: CreateToken | undefined; answer: CreatedToken };
  token_delete: { path: { token: string; }; query: Record<never, never>; body: undefined; answer: unknown };
  token_get: { path: { token: string; }; query: Record<never, never>; body: undefined; answer: Token };
  trigger_list: { path: Record<never, never>; query: { namespace?: Namespace; limit?: number; cursor?: string; }; body: undefined; answer: JobTriggerPage };
  trigger_load: { path: Record<never, never>; query: { namespace?: Namespace; days?: number; from?: Time; }; body: undefined; answer: LoadReport };
  trigger_preview: { path: Record<never, never>; query: { trigger: string; namespace?: Namespace; job?: string; after?: Time; count?: number; }; body: undefined; answer: Preview };
  watch: { path: Record<never, never>; query: { namespace?: Namespace; job?: JobId; run?: RunId; kinds?: string; last_event_id?: string; }; body: undefined; answer: unknown };
}

/** Method and path of each operation. */
export const PATHS = {
  front: { method: "GET", path: "/" },
  manual: { method: "GET", path: "/docs" },
  health: { method: "GET", path: "/healthz" },
  schema: { method: "GET", path: "/openapi.json" },
  ready: { method: "GET", path: "/readyz" },
  access_get: { method: "GET", path: "/v1/access" },
  artifact_list: { method: "GET", path: "/v1/artifacts" },
  artifact_put: { method: "POST", path: "/v1/artifacts" },
  artifact_delete: { method: "DELETE", path: "/v1/artifacts/{digest}" },
  artifact_get: { method: "GET", path: "/v1/artifacts/{digest}" },
  artifact_content: { method: "GET", path: "/v1/artifacts/{digest}/content" },
  audit_list: { method: "GET", path: "/v1/audit" },
  audit_verify: { method: "GET", path: "/v1/audit/verify" },
  backfill_list_all: { method: "GET", path: "/v1/backfills" },
  calendar_list: { method: "GET", path: "/v1/calendars" },
  calendar_delete: { method: "DELETE", path: "/v1/calendars/{calendar}" },
  calendar_get: { method: "GET", path: "/v1/calendars/{calendar}" },
  calendar_put: { method: "PUT", path: "/v1/calendars/{calendar}" },
  cell_pause: { method: "POST", path: "/v1/cells/{cell}/pause" },
  cell_resume: { method: "POST", path: "/v1/cells/{cell}/resume" },
  cluster_get: { method: "GET", path: "/v1/cluster" },
  doctor: { method: "GET", path: "/v1/doctor" },
  hook_call: { method: "POST", path: "/v1/hooks/{token}" },
  job_list: { method: "GET", path: "/v1/jobs" },
  job_validate: { method: "POST", path: "/v1/jobs/validate" },
  job_delete: { method: "DELETE", path: "/v1/jobs/{job}" },
  job_get: { method: "GET", path: "/v1/jobs/{job}" },
  job_put: { method: "PUT", path: "/v1/jobs/{job}" },
  job_confirm: { method: "POST", path: "/v1/jobs/{job}/confirm" },
  job_dependents: { method: "GET", path: "/v1/jobs/{job}/dependents" },
  job_diff: { method: "GET", path: "/v1/jobs/{job}/diff" },
  job_pause: { method: "POST", path: "/v1/jobs/{job}/pause" },
  job_resume: { method: "POST", path: "/v1/jobs/{job}/resume" },
  job_triggers: { method: "GET", path: "/v1/jobs/{job}/triggers" },
  trigger_get: { method: "GET", path: "/v1/jobs/{job}/triggers/{trigger}" },
  backfill_list: { method: "GET", path: "/v1/jobs/{job}/triggers/{trigger}/backfills" },
  backfill_start: { method: "POST", path: "/v1/jobs/{job}/triggers/{trigger}/backfills" },
  backfill_plan: { method: "GET", path: "/v1/jobs/{job}/triggers/{trigger}/backfills/plan" },
  backfill_stop: { method: "POST", path: "/v1/jobs/{job}/triggers/{trigger}/backfills/{backfill}/stop" },
  trigger_cursor: { method: "PUT", path: "/v1/jobs/{job}/triggers/{trigger}/cursor" },
  trigger_fire: { method: "POST", path: "/v1/jobs/{job}/triggers/{trigger}/fire" },
  trigger_history: { method: "GET", path: "/v1/jobs/{job}/triggers/{trigger}/history" },
  trigger_pause: { method: "POST", path: "/v1/jobs/{job}/triggers/{trigger}/pause" },
  trigger_resume: { method: "POST", path: "/v1/jobs/{job}/triggers/{trigger}/resume" },
  trigger_revoke: { method: "DELETE", path: "/v1/jobs/{job}/triggers/{trigger}/token" },
  trigger_token: { method: "POST", path: "/v1/jobs/{job}/triggers/{trigger}/token" },
  job_versions: { method: "GET", path: "/v1/jobs/{job}/versions" },
  job_version: { method: "GET", path: "/v1/jobs/{job}/versions/{version}" },
  node_invite: { method: "POST", path: "/v1/join-tokens" },
  login_code_create: { method: "POST", path: "/v1/login-codes" },
  me: { method: "GET", path: "/v1/me" },
  member_list: { method: "GET", path: "/v1/members" },
  member_delete: { method: "DELETE", path: "/v1/members/{subject}" },
  member_get: { method: "GET", path: "/v1/members/{subject}" },
  member_put: { method: "PUT", path: "/v1/members/{subject}" },
  namespace_list: { method: "GET", path: "/v1/namespaces" },
  namespace_delete: { method: "DELETE", path: "/v1/namespaces/{namespace}" },
  namespace_get: { method: "GET", path: "/v1/namespaces/{namespace}" },
  namespace_put: { method: "PUT", path: "/v1/namespaces/{namespace}" },
  node_list: { method: "GET", path: "/v1/nodes" },
  node_remove: { method: "DELETE", path: "/v1/nodes/{node}" },
  node_get: { method: "GET", path: "/v1/nodes/{node}" },
  node_drain: { method: "POST", path: "/v1/nodes/{node}/drain" },
  node_label: { method: "PUT", path: "/v1/nodes/{node}/labels" },
  node_lose: { method: "POST", path: "/v1/nodes/{node}/lose" },
  node_resume: { method: "POST", path: "/v1/nodes/{node}/resume" },
  occurrence_list: { method: "GET", path: "/v1/occurrences" },
  occurrence_count: { method: "GET", path: "/v1/occurrences/counts" },
  pool_list: { method: "GET", path: "/v1/pools" },
  queue: { method: "GET", path: "/v1/queue" },
  run_list: { method: "GET", path: "/v1/runs" },
  run_submit: { method: "POST", path: "/v1/runs" },
  run_batch: { method: "POST", path: "/v1/runs/batch" },
  bulk_list: { method: "GET", path: "/v1/runs/bulk" },
  run_bulk: { method: "POST", path: "/v1/runs/bulk" },
  bulk_get: { method: "GET", path: "/v1/runs/bulk/{operation}" },
  bulk_stop: { method: "POST", path: "/v1/runs/bulk/{operation}/stop" },
  run_counts: { method: "GET", path: "/v1/runs/counts" },
  run_get: { method: "GET", path: "/v1/runs/{run}" },
  run_attempts: { method: "GET", path: "/v1/runs/{run}/attempts" },
  run_cancel: { method: "POST", path: "/v1/runs/{run}/cancel" },
  run_logs: { method: "GET", path: "/v1/runs/{run}/logs" },
  run_log_index: { method: "GET", path: "/v1/runs/{run}/logs/index" },
  run_log_search: { method: "GET", path: "/v1/runs/{run}/logs/search" },
  run_prioritise: { method: "POST", path: "/v1/runs/{run}/priority" },
  run_rerun: { method: "POST", path: "/v1/runs/{run}/rerun" },
  run_retry: { method: "POST", path: "/v1/runs/{run}/retry" },
  run_spec: { method: "GET", path: "/v1/runs/{run}/spec" },
  run_timeline: { method: "GET", path: "/v1/runs/{run}/timeline" },
  run_why: { method: "GET", path: "/v1/runs/{run}/why" },
  session_delete: { method: "DELETE", path: "/v1/sessions" },
  session_create: { method: "POST", path: "/v1/sessions" },
  settings_get: { method: "GET", path: "/v1/settings" },
  stats: { method: "GET", path: "/v1/stats" },
  stats_series: { method: "GET", path: "/v1/stats/series" },
  token_list: { method: "GET", path: "/v1/tokens" },
  token_create: { method: "POST", path: "/v1/tokens" },
  token_delete: { method: "DELETE", path: "/v1/tokens/{token}" },
  token_get: { method: "GET", path: "/v1/tokens/{token}" },
  trigger_list: { method: "GET", path: "/v1/triggers" },
  trigger_load: { method: "GET", path: "/v1/triggers/load" },
  trigger_preview: { method: "GET", path: "/v1/triggers/preview" },
  watch: { method: "GET", path: "/v1/watch" },
} as const satisfies Record<keyof Operations, { method: string; path: string }>;

/** The role that an operation needs, and where: from `x-permission`. */
export const PERMISSIONS = {
  "front": { place: "anyone", role: "viewer" },
  "manual": { place: "anyone", role: "viewer" },
  "health": { place: "anyone", role: "viewer" },
  "schema": { place: "anyone", role: "viewer" },
  "ready": { place: "anyone", role: "viewer" },
  "access.get": { place: "namespace", role: "admin" },
  "artifact.list": { place: "namespace", role: "viewer" },
  "artifact.put": { place: "namespace", role: "editor" },
  "artifact.delete": { place: "namespace", role: "editor" },
  "artifact.get": { place: "namespace", role: "viewer" },
  "artifact.content": { place: "namespace", role: "viewer" },
  "audit.list": { place: "namespace", role: "admin" },
  "audit.verify": { place: "everywhere", role: "admin" },
  "backfill.list_all": { place: "namespace", role: "viewer" },
  "calendar.list": { place: "namespace", role: "viewer" },
  "calendar.delete": { place: "namespace", role: "editor" },
  "calendar.get": { place: "namespace", role: "viewer" },
  "calendar.put": { place: "namespace", role: "editor" },
  "cell.pause": { place: "everywhere", role: "admin" },
  "cell.resume": { place: "everywhere", role: "admin" },
  "cluster.get": { place: "everywhere", role: "viewer" },
  "doctor": { place: "everywhere", role: "operator" },
  "hook.call": { place: "anyone", role: "operator" },
  "job.list": { place: "namespace", role: "viewer" },
  "job.validate": { place: "namespace", role: "viewer" },
  "job.delete": { place: "namespace", role: "editor" },
  "job.get": { place: "namespace", role: "viewer" },
  "job.put": { place: "namespace", role: "editor" },
  "job.confirm": { place: "namespace", role: "editor" },
  "job.dependents": { place: "namespace", role: "viewer" },
  "job.diff": { place: "namespace", role: "viewer" },
  "job.pause": { place: "namespace", role: "operator" },
  "job.resume": { place: "namespace", role: "operator" },
  "job.triggers": { place: "namespace", role: "viewer" },
  "trigger.get": { place: "namespace", role: "viewer" },
  "backfill.list": { place: "namespace", role: "viewer" },
  "backfill.start": { place: "namespace", role: "operator" },
  "backfill.plan": { place: "namespace", role: "viewer" },
  "backfill.stop": { place: "namespace", role: "operator" },
  "trigger.cursor": { place: "namespace", role: "operator" },
  "trigger.fire": { place: "namespace", role: "operator" },
  "trigger.history": { place: "namespace", role: "viewer" },
  "trigger.pause": { place: "namespace", role: "operator" },
  "trigger.resume": { place: "namespace", role: "operator" },
  "trigger.revoke": { place: "namespace", role: "editor" },
  "trigger.token": { place: "namespace", role: "editor" },
  "job.versions": { place: "namespace", role: "viewer" },
  "job.version": { place: "namespace", role: "viewer" },
  "node.invite": { place: "everywhere", role: "admin" },
  "login_code.create": { place: "signed in", role: "viewer" },
  "me": { place: "signed in", role: "viewer" },
  "member.list": { place: "namespace", role: "admin" },
  "member.delete": { place: "namespace", role: "admin" },
  "member.get": { place: "namespace", role: "admin" },
  "member.put": { place: "namespace", role: "admin" },
  "namespace.list": { place: "namespace", role: "viewer" },
  "namespace.delete": { place: "namespace", role: "admin" },
  "namespace.get": { place: "namespace", role: "viewer" },
  "namespace.put": { place: "namespace", role: "admin" },
  "node.list": { place: "everywhere", role: "viewer" },
  "node.glance": { place: "namespace", role: "viewer" },
  "node.remove": { place: "everywhere", role: "admin" },
  "node.get": { place: "everywhere", role: "viewer" },
  "node.drain": { place: "everywhere", role: "operator" },
  "node.label": { place: "everywhere", role: "admin" },
  "node.lose": { place: "everywhere", role: "operator" },
  "node.resume": { place: "everywhere", role: "operator" },
  "occurrence.list": { place: "namespace", role: "viewer" },
  "occurrence.count": { place: "namespace", role: "viewer" },
  "pool.list": { place: "everywhere", role: "viewer" },
  "queue": { place: "namespace", role: "viewer" },
  "run.list": { place: "namespace", role: "viewer" },
  "run.submit": { place: "namespace", role: "operator" },
  "run.submit_spec": { place: "namespace", role: "editor" },
  "run.batch": { place: "namespace", role: "operator" },
  "bulk.list": { place: "namespace", role: "operator" },
  "run.bulk": { place: "namespace", role: "operator" },
  "bulk.get": { place: "namespace", role: "operator" },
  "bulk.stop": { place: "namespace", role: "operator" },
  "run.counts": { place: "namespace", role: "viewer" },
  "run.get": { place: "namespace", role: "viewer" },
  "run.attempts": { place: "namespace", role: "viewer" },
  "run.cancel": { place: "namespace", role: "operator" },
  "run.logs": { place: "namespace", role: "viewer" },
  "run.log_index": { place: "namespace", role: "viewer" },
  "run.log_search": { place: "namespace", role: "viewer" },
  "run.prioritise": { place: "namespace", role: "operator" },
  "run.rerun": { place: "namespace", role: "operator" },
  "run.retry": { place: "namespace", role: "operator" },
  "run.spec": { place: "namespace", role: "viewer" },
  "run.timeline": { place: "namespace", role: "viewer" },
  "run.why": { place: "namespace", role: "viewer" },
  "session.delete": { place: "signed in", role: "viewer" },
  "session.create": { place: "anyone", role: "viewer" },
  "settings.get": { place: "everywhere", role: "admin" },
  "stats": { place: "namespace", role: "viewer" },
  "stats.series": { place: "namespace", role: "viewer" },
  "token.list": { place: "signed in", role: "viewer" },
  "token.list_all": { place: "everywhere", role: "admin" },
  "token.create": { place: "signed in", role: "viewer" },
  "token.create_other": { place: "everywhere", role: "admin" },
  "token.delete": { place: "signed in", role: "viewer" },
  "token.delete_other": { place: "everywhere", role: "admin" },
  "token.get": { place: "signed in", role: "viewer" },
  "token.get_other": { place: "everywhere", role: "admin" },
  "trigger.list": { place: "namespace", role: "viewer" },
  "trigger.load": { place: "namespace", role: "viewer" },
  "trigger.preview": { place: "signed in", role: "viewer" },
  "watch": { place: "namespace", role: "viewer" },
} as const;
