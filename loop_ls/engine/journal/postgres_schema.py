"""Tables and functions of the journal in PostgreSQL, their version, and the steps from older versions.

A batch of entries is one call of `loop_ls.write`: one round trip, one transaction. Locks are always taken
in the same order (runs, texts, head), so writers wait for each other and never in a circle.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from typing import Any

from loop_ls.engine.journal.refusal import JournalRefused
from loop_ls.engine.journal.schema import FORMAT

#: Held while tables are made: engines that start at once do it one after the other.
LOCK = 4_997_012
#: Errors of our own, as the functions raise them.
NOT_OWNER, NEWER = "LL001", "LL002"
#: Seconds without a sign of life until a worker counts as dead.
LEASE = 3.0

TABLES = """
create schema if not exists loop_ls;
create table if not exists loop_ls.meta(name text primary key, value text);
create table if not exists loop_ls.worker(
    name text primary key, backend int, seen timestamptz not null default clock_timestamp());
alter table loop_ls.worker add column if not exists waiting int;
create table if not exists loop_ls.run(
    number bigint generated always as identity primary key, id text collate "C" not null unique, snapshot text,
    last_seq int not null default 0);
alter table loop_ls.run add column if not exists answers int;  -- null: nobody counted them from the beginning
alter table loop_ls.run alter column answers set default 0;
create index if not exists run_unfinished on loop_ls.run(number) where snapshot is null;
create table if not exists loop_ls.entry(run bigint not null, key text not null, value text, primary key(run, key));
create table if not exists loop_ls.fact(
    position bigint primary key, run bigint not null, seq int not null, kind text not null,
    at double precision not null, body text not null, unique(run, seq));
create table if not exists loop_ls.long_text(hash bytea primary key, body text not null);
create table if not exists loop_ls.uses(run bigint not null, hash bytea not null, primary key(run, hash));
create index if not exists uses_of on loop_ls.uses(hash);
create table if not exists loop_ls.head(one boolean primary key default true check (one), position bigint not null);
insert into loop_ls.head(position) values(0) on conflict do nothing;
insert into loop_ls.meta values('identity', md5(random()::text || clock_timestamp()::text)) on conflict do nothing;
create table if not exists loop_ls.passed(gate text not null, at timestamptz not null, call text not null, tokens int);
create index if not exists passed_at on loop_ls.passed(gate, at);
create table if not exists loop_ls.account(
    project text not null, day text not null, usd float8 not null, tokens bigint not null, primary key(project, day));
create table if not exists loop_ls.held(
    name text not null, project text not null, day text not null, run text not null, claim text not null,
    usd float8 not null, tokens bigint not null, paid boolean not null default false,
    at timestamptz not null default clock_timestamp(), primary key(project, day, name));
"""

FUNCTIONS = """
-- A packed body as an object: the one escape that jsonb cannot hold stands for a reference to a long text.
create or replace function loop_ls.object(body text) returns jsonb language sql immutable as $$
    select regexp_replace(body, '(?<!\\\\)((?:\\\\\\\\)*)\\\\u0000', '\\1', 'g')::jsonb
$$;

-- Whether a claim to a run still holds. Found by the run alone: with the status in the condition the planner may walk
-- through all that are pending, as DBOS has an index of these.
create or replace function loop_ls.claimed(run text, claim text) returns boolean language plpgsql stable as $$
declare state text;
begin
    select status into state from dbos.workflow_status where workflow_uuid = claimed.run and owner_xid = claimed.claim;
    return coalesce(state = 'PENDING', false);
end $$;

-- What calls have cost, by the project of their run: the account of a project adds it up.
create or replace view loop_ls.spending as
    select f.position, coalesce(s.started->'project'->>'', s.started->>'project', s.started->'root'->>'',
            s.started->>'root') as project,
        to_char(to_timestamp(f.at) at time zone 'UTC', 'YYYY-MM-DD') as day,
        coalesce((c.call->>'usd')::float8, 0) as usd,
        coalesce((c.call->'tokens'->>'input')::bigint, 0) + coalesce((c.call->'tokens'->>'output')::bigint, 0) as tokens
    from loop_ls.fact f join loop_ls.fact r on r.run = f.run and r.seq = 1,
        lateral (select loop_ls.object(f.body) as call) c, lateral (select loop_ls.object(r.body) as started) s
    where f.kind = 'call' and not coalesce((c.call->>'copied')::boolean, false)
        and not coalesce((s.started->>'mock')::boolean, false)
        and not coalesce((s.started->>'imported')::boolean, false);

create or replace function loop_ls.write(batch jsonb, spoken int)
returns table(ord bigint, seq int, pos bigint) language plpgsql as $$
#variable_conflict use_column
declare
    e record; r record; known int; changed int; base bigint; state text; added int := 0;
    ords bigint[] := '{}'; runs bigint[] := '{}'; seqs int[] := '{}';
    kinds text[] := '{}'; ats float8[] := '{}'; bodies text[] := '{}';
begin
    select value::int into known from loop_ls.meta where name = 'format';
    if known is distinct from spoken then raise exception 'format %', known using errcode = 'LL002'; end if;
    insert into loop_ls.run(id)
        select distinct b->>'run' from jsonb_array_elements(batch) b
        where not (b ? 'owned') and not exists (select 1 from loop_ls.run where id = b->>'run') order by 1
        on conflict do nothing;
    perform 1 from loop_ls.run
        where id in (select b->>'run' from jsonb_array_elements(batch) b) order by number for update;
    if jsonb_path_exists(batch, '$[*].forget') then lock table loop_ls.long_text in share row exclusive mode; end if;
    insert into loop_ls.long_text(hash, body)
        select distinct on (1) decode(t.key, 'hex'), t.value
        from jsonb_array_elements(batch) b, jsonb_each_text(b->'texts') t order by 1 on conflict do nothing;
    for e in select b.value as v, b.ordinality as n from jsonb_array_elements(batch) with ordinality b loop
        select number into r from loop_ls.run where id = e.v->>'run';
        if e.v ? 'owned' then  -- the lock keeps DBOS from giving the run away before this is committed
            state := null;
            select status into state from dbos.workflow_status
                where workflow_uuid = e.v->>'run' and owner_xid = e.v->>'owned' for share;
            if state is distinct from 'PENDING' then
                raise exception '%', e.v->>'run' using errcode = 'LL001';
            end if;
        end if;
        if e.v ? 'queued' then perform loop_ls.enqueue(e.v->>'run', spoken::text); end if;
        if e.v ? 'forget' then
            perform 1 from loop_ls.head for update;  -- no call is written while what was spent is added up
            insert into loop_ls.account
                select s.project, d.day, sum(s.usd), sum(s.tokens)
                from loop_ls.spending s, lateral (values (''),
                    (to_char(clock_timestamp() at time zone 'UTC', 'YYYY-MM-DD'))) d(day)
                where s.project = (select s2.project from loop_ls.spending s2
                        join loop_ls.fact f on f.position = s2.position where f.run = r.number limit 1)
                    and s.day >= d.day
                group by 1, 2 on conflict do nothing;
            delete from loop_ls.fact where run = r.number;
            delete from loop_ls.entry where run = r.number;
            delete from loop_ls.uses where run = r.number;
            delete from loop_ls.run where number = r.number;
            delete from dbos.workflow_status where workflow_uuid = e.v->>'run';
            delete from dbos.workflow_input where workflow_uuid = e.v->>'run';
            delete from dbos.workflow_output where workflow_uuid = e.v->>'run';
            delete from loop_ls.long_text t where not exists (select 1 from loop_ls.uses u where u.hash = t.hash);
            continue;
        end if;
        if e.v ? 'ongoing' and exists (
            select 1 from loop_ls.entry where run = r.number and key = ':end' and value is not null)
        then
            continue;  -- too late: nothing follows the last fact
        end if;
        if e.v->>'key' is not null then
            if e.v->>'value' is null then
                insert into loop_ls.entry(run, key) values(r.number, e.v->>'key') on conflict do nothing;
            else
                insert into loop_ls.entry(run, key, value) values(r.number, e.v->>'key', e.v->>'value')
                    on conflict (run, key) do update set value = excluded.value where loop_ls.entry.value is null;
            end if;
            get diagnostics changed = row_count;
            if changed = 0 then continue; end if;
            if e.v->>'value' is not null then
                update loop_ls.run set answers = answers + 1 where number = r.number;
            end if;
        elsif e.v ? 'again' and exists (
            select 1 from loop_ls.fact f where f.run = r.number and f.at = (e.v->>'at')::float8
            and f.kind = e.v#>>'{facts,0,0}')
        then
            continue;  -- its answer was lost on the way, not the entry
        end if;
        insert into loop_ls.uses(run, hash)
            select r.number, decode(k, 'hex') from jsonb_object_keys(e.v->'texts') k on conflict do nothing;
        if e.v->>'snapshot' is not null then
            update loop_ls.run set snapshot = e.v->>'snapshot' where number = r.number;
        end if;
        changed := jsonb_array_length(e.v->'facts');
        if changed > 0 then
            update loop_ls.run set last_seq = last_seq + changed where number = r.number returning last_seq into known;
            for i in 0 .. changed - 1 loop
                ords := ords || e.n; runs := runs || r.number; seqs := seqs || known - changed + 1 + i;
                kinds := kinds || (e.v->'facts'->i->>0); bodies := bodies || (e.v->'facts'->i->>1);
                ats := ats || (e.v->>'at')::float8;
            end loop;
            added := added + changed;
        end if;
    end loop;
    if jsonb_path_exists(batch, '$[*].queued') then perform loop_ls.share(); end if;
    if added = 0 then return; end if;
    update loop_ls.head set position = position + added returning position - added into base;
    insert into loop_ls.fact(position, run, seq, kind, at, body)
        select base + i, runs[i], seqs[i], kinds[i], ats[i], bodies[i] from generate_series(1, added) i;
    if 'call' = any(kinds) and exists (select 1 from loop_ls.account) then
        update loop_ls.account a set usd = a.usd + s.usd, tokens = a.tokens + s.tokens
            from (select project, d.day, sum(usd) as usd, sum(tokens) as tokens
                from loop_ls.spending p, lateral (values (''),
                    (to_char(clock_timestamp() at time zone 'UTC', 'YYYY-MM-DD'))) d(day)  -- no engine's clock
                where position > base group by project, d.day) s
            where a.project = s.project and a.day = s.day;
    end if;
    perform pg_notify('loop_ls', (base + added)::text);
    return query select ords[i], seqs[i], base + i from generate_series(1, added) i;
end $$;

create or replace function loop_ls.enqueue(run text, version text) returns void language plpgsql as $$
begin
    perform dbos.enqueue_workflow('run', 'runs', array[to_json(run)], workflow_id => run, app_version => version,
        application_name => 'loop-ls');
end $$;

create or replace function loop_ls.share() returns void language plpgsql as $$
declare unfinished bigint; share int; pace float8;
begin  -- so that no worker takes a whole burst off the queue. Those that take no runs do not tell how many wait.
    select count(*) into unfinished from loop_ls.run where snapshot is null;
    select least(unfinished / greatest(count(*), 1) + 2, 1000 + coalesce(max(waiting), 0)) into share
        from loop_ls.worker where waiting is not null and seen > clock_timestamp() - interval '{LEASE} seconds';
    pace := case when unfinished = 0 then 1.0 else 0.5 end;
    update dbos.queues set worker_concurrency = share, polling_interval_sec = pace
        where name = 'runs' and (worker_concurrency, polling_interval_sec) is distinct from (share, pace);
end $$;

create or replace function loop_ls.pass(
    gate text, call text, held int[], at_once int, per_minute int, most_tokens int, own_tokens int)
returns table(slot int, wait float8) language plpgsql as $$
declare moment timestamptz := clock_timestamp(); calls bigint; spent bigint; oldest timestamptz;
begin
    for i in 1 .. coalesce(at_once, 0) loop  -- a place is a lock of this session, and is free when the session ends
        if not i = any(held) and pg_try_advisory_lock(hashtext(pass.gate), i) then slot := i; exit; end if;
    end loop;
    if at_once is not null and slot is null then return next; return; end if;
    perform pg_advisory_xact_lock(hashtextextended(pass.gate, 4997012));
    delete from loop_ls.passed p where p.gate = pass.gate and p.at <= moment - interval '1 minute';
    select count(*), coalesce(sum(p.tokens), 0), min(p.at) into calls, spent, oldest
        from loop_ls.passed p where p.gate = pass.gate;
    if calls >= per_minute or (spent > 0 and spent + own_tokens > most_tokens) then
        if slot is not null then perform pg_advisory_unlock(hashtext(pass.gate), slot); end if;
        slot := null;
        wait := greatest(0.01, extract(epoch from oldest + interval '1 minute' - moment));
    else
        if per_minute is not null or most_tokens is not null then
            insert into loop_ls.passed values(pass.gate, moment, pass.call, own_tokens);
        end if;
        slot := coalesce(slot, 0);
    end if;
    return next;
end $$;

-- Sets the first of the wanted costs aside that fits, or all that is left where none is named. Without a name nothing
-- is set aside, and nobody is waited for but those whose cost is about to be written.
create or replace function loop_ls.hold(
    project text, daily boolean, run text, claim text, name text, wanted jsonb, cap_usd float8, cap_tokens bigint)
returns table(choice int, most_usd float8, most_tokens bigint, taken_usd float8, taken_tokens bigint, busy boolean)
language plpgsql as $$
#variable_conflict use_column
declare
    today text := case when daily then to_char(clock_timestamp() at time zone 'UTC', 'YYYY-MM-DD') else '' end;
    more float8; many bigint; usd_cap float8 := coalesce(cap_usd, 'infinity');
    tokens_cap bigint := coalesce(cap_tokens, 1::bigint << 62);
begin
    perform pg_advisory_xact_lock(hashtextextended(hold.project || ' ' || today, 4997014));
    if not loop_ls.claimed(hold.run, hold.claim) then raise exception '%', hold.run using errcode = 'LL001'; end if;
    if not exists (select 1 from loop_ls.account a where a.project = hold.project and a.day = today) then
        perform 1 from loop_ls.head for update;  -- no call is written meanwhile
        insert into loop_ls.account
            select hold.project, today, coalesce(sum(s.usd), 0), coalesce(sum(s.tokens), 0) from loop_ls.spending s
            where s.project = hold.project and s.day >= today;  -- a clock that was behind gives no money back
    end if;
    delete from loop_ls.held h
        where h.project = hold.project and h.day = today and not loop_ls.claimed(h.run, h.claim);
    select a.usd, a.tokens into taken_usd, taken_tokens
        from loop_ls.account a where a.project = hold.project and a.day = today;
    select taken_usd + coalesce(sum(h.usd), 0), taken_tokens + coalesce(sum(h.tokens), 0),
            coalesce(bool_or(case when h.paid then h.at > clock_timestamp() - interval '10 seconds'
                else hold.name is not null end), false)
        into taken_usd, taken_tokens, busy
        from loop_ls.held h where h.project = hold.project and h.day = today;
    most_usd := 0; most_tokens := 0;
    if wanted is null then
        if not busy and taken_usd < usd_cap and taken_tokens < tokens_cap then
            choice := 0;
            most_usd := coalesce(cap_usd - taken_usd, 0); most_tokens := coalesce(cap_tokens - taken_tokens, 0);
        end if;
    else
        for i in 0 .. jsonb_array_length(wanted) - 1 loop
            more := (wanted->i->>0)::float8; many := (wanted->i->>1)::bigint;
            if taken_usd + more <= usd_cap + 1e-12 and taken_tokens + many <= tokens_cap then
                choice := i; most_usd := more; most_tokens := many; exit;
            end if;
        end loop;
    end if;
    if choice is not null and hold.name is not null then
        insert into loop_ls.held(name, project, day, run, claim, usd, tokens)
            values(hold.name, hold.project, today, hold.run, hold.claim, most_usd, most_tokens) on conflict do nothing;
    end if;
    return next;
end $$;

-- What was set aside under a name was paid, wholly or in part, or is free.
create or replace function loop_ls.settle(
    project text, daily boolean, run text, claim text, name text, paid_usd float8, paid_tokens bigint)
returns void language plpgsql as $$
#variable_conflict use_column
declare today text := case when daily then to_char(clock_timestamp() at time zone 'UTC', 'YYYY-MM-DD') else '' end;
begin
    if paid_usd is null then
        delete from loop_ls.held h where h.project = settle.project and h.name = settle.name;
        return;
    end if;
    update loop_ls.held h set usd = paid_usd, tokens = paid_tokens, paid = true, at = clock_timestamp()
        where h.project = settle.project and h.name = settle.name;
    if not found then
        insert into loop_ls.held(name, project, day, run, claim, usd, tokens, paid)
            values(settle.name, settle.project, today, settle.run, settle.claim, paid_usd, paid_tokens, true)
            on conflict do nothing;
    end if;
end $$;
""".replace("{LEASE}", str(LEASE))

#: version -> what brings a journal of that version to the next one.
MIGRATIONS: dict[int, Callable[[object], None]] = {}


def prepare(db: Any, migrations: dict[int, Callable[[Any], None]] = MIGRATIONS) -> None:
    """Make the tables, or bring an older journal up to date; refuse a newer one."""
    with db.transaction():
        db.execute("select pg_advisory_xact_lock(%s)", (LOCK,))
        db.execute(TABLES.partition(";")[0])
        there = db.execute("select to_regclass('loop_ls.meta') is not null").fetchone()[0]
        known = dict(db.execute("select name, value from loop_ls.meta").fetchall()) if there else {}
        version = int(known.get("format", FORMAT))
        if version > FORMAT:
            raise newer(version)
        for step in range(version, FORMAT):
            if step not in migrations:
                raise JournalRefused(
                    "not_a_journal",
                    f"The journal in the database has format {step}, which cannot be upgraded.",
                    "Choose another database with `engine.databaseUrl`.",
                )
            migrations[step](db)
        now = {"format": str(FORMAT), "tables": _sum(TABLES), "functions": _sum(FUNCTIONS)}
        # Each of these locks out the engines that are working: only the first engine of a version does it.
        if known.get("tables") != now["tables"]:
            db.execute(TABLES)
        if known.get("functions") != now["functions"]:
            db.execute(FUNCTIONS)
        for row in now.items() - known.items():
            db.execute(
                "insert into loop_ls.meta values(%s, %s) on conflict (name) do update set value = excluded.value", row
            )


def _sum(statements: str) -> str:
    return hashlib.sha256(statements.encode()).hexdigest()


def newer(version: object) -> JournalRefused:
    return JournalRefused(
        "newer_format",
        f"The journal in the database has format {version}; this version of loop-ls supports formats up to {FORMAT}.",
        "Use the newer version of loop-ls that upgraded it; runs continue with its workers.",
    )
