/* SPDX-License-Identifier: MIT */
/*
 * The evaluation of an answer, and its effect on the watches that share it or could share it.
 *
 * What this file must never do: let a watch share an answer before the watch's own route is known.
 */
#include "route/answer_update.h"

#include "route/full_path.h"
#include "route/link_dependency.h"
#include "route/monitor_state.h"
#include "route/share_mode.h"
#include "route/watch_steps.h"

/* ---- Evaluation ------------------------------------------------------------------------------------------------- */

static int evaluate_over_netlink(struct monitor *monitor, const struct step *step, struct path *ret)
{
    struct path_watch *watch = step->watch;

    if (watch->type->evaluate != NULL)
        return watch->type->evaluate(watch, &monitor->rtnetlink, monitor->netns, &monitor->cache, step->questions,
                                     &monitor->gateways, ret);
    return full_path_evaluate(&monitor->rtnetlink, monitor->netns, &monitor->cache, step->questions, watch->extras,
                              ret);
}

static int evaluate_without_netlink(struct monitor *monitor, const struct step *step, struct path *ret)
{
    struct path_watch *watch = step->watch;

    if (watch->type->evaluate != NULL)
        return watch->type->evaluate(watch, NULL, monitor->netns, &monitor->cache, step->questions, &monitor->gateways,
                                     ret);
    return netns_evaluate_in_round(monitor->netns, &monitor->cache, step->questions, watch->extras, ret);
}

static int evaluate_step(struct monitor *monitor, const struct step *step, struct path *ret)
{
    int error = NETLINK_DENIED;

    if (monitor_can_query(monitor))
        error = evaluate_over_netlink(monitor, step, ret);
    if (error == NETLINK_DENIED) { /* the process may have entered a sandbox a moment ago */
        plan_begin_polling(&monitor->plan);
        error = evaluate_without_netlink(monitor, step, ret);
    }
    return error;
}

/* ---- Links ------------------------------------------------------------------------------------------------------ */

/* Whether a message about the link has come so lately that the kernel may not have finished the change. */
static bool link_is_unfinished(const struct monitor *monitor, uint32_t index)
{
    const struct link *link = link_table_find(&monitor->rtnetlink.links, index);

    return link != NULL && plan_is_recent(link->changed, monitor->round.began);
}

/* If the leader of a shared answer has no route, others can have one that is hidden: see share_mode.c. */
static void update_answer_locked(struct monitor *monitor, struct answer *answer, const struct extent *extent,
                                 const struct path *path)
{
    const bool     any_link = answer->is_shared && extent->kind == EXTENT_REFUSED;
    const uint32_t link = any_link ? LINK_INDEX_ANY : link_dependency(&monitor->rtnetlink, extent, path);
    const bool     unfinished = plan_is_recent(monitor->plan.changed, monitor->round.began);

    watch_set_update(&monitor->watches, answer,
                     &(struct evaluation){ .dependencies = &path->dependencies,
                                           .link = link,
                                           .unfinished = unfinished,
                                           .link_unfinished = unfinished && link_is_unfinished(monitor, link) });
}

/* ---- Own answers ------------------------------------------------------------------------------------------------ */

/* Gives the path to the answer's only watch. */
static void give_own_path(struct monitor *monitor, const struct step *step, const struct extent *extent,
                          const struct path *path)
{
    bool covered = true, accepted;

    gateways_add(&monitor->gateways, path);
    runloop_lock(monitor->loop);
    if (step_is_current(step)) {
        update_answer_locked(monitor, step->answer, extent, path);
        covered = monitor_filter_passes_all(monitor);
    }
    runloop_unlock(monitor->loop);
    accepted = step->watch->type->accept(step->watch, path, step->path_version);
    if (accepted && covered)
        return;
    runloop_lock(monitor->loop);
    if (step_is_current(step)) /* the path may be outdated, or the filter has dropped messages about it */
        watch_steps_requeue(&monitor->watches, step->answer);
    runloop_unlock(monitor->loop);
}

/* ---- Shared answers --------------------------------------------------------------------------------------------- */

/* extent_query. If a sandbox refuses the query, the watch is alone: each has another way to be evaluated. */
static int find_extent(struct monitor *monitor, const struct question *question, struct extent *ret)
{
    const int error = extent_query(&monitor->rtnetlink, question, ret);

    if (error != NETLINK_DENIED)
        return error;
    plan_begin_polling(&monitor->plan);
    ret->kind = EXTENT_ALONE;
    return 0;
}

static void set_shared_path(struct monitor *monitor, const struct step *step, struct shared_answer *shared,
                            const struct extent *extent, const struct path *path)
{
    const enum share_mode mode = share_mode_choose(monitor, &step->questions->items[0], step->must_check, extent, path);
    bool                  is_known;

    gateways_add(&monitor->gateways, path);
    runloop_lock(monitor->loop);
    is_known = share_mode_keeps_path(shared, mode, path);
    shared->mode = mode;
    shared->match = extent->prefix;
    shared->path = *path;
    update_answer_locked(monitor, &shared->answer, extent, path);
    if (is_known)
        shared->leader = step_is_current(step) ? step->watch : NULL;
    else
        watch_steps_apply(&monitor->watches, shared, step_is_current(step) ? step->watch : NULL);
    if (!step_is_current(step) || !monitor_filter_passes_all(monitor))
        watch_steps_requeue(&monitor->watches, &shared->answer);
    runloop_unlock(monitor->loop);
}

/* Moves the watch of the step to an answer of its own. Returns 0 or ENOMEM. */
static int leave_answer(struct monitor *monitor, const struct step *step)
{
    int error = 0;

    runloop_lock(monitor->loop);
    if (step_is_current(step))
        error = watch_steps_leave(&monitor->watches, step->watch);
    runloop_unlock(monitor->loop);
    return error;
}

/* Another route leads to the watch than to the others. */
static int leave_and_requeue(struct monitor *monitor, const struct step *step)
{
    const int error = leave_answer(monitor, step);

    if (error != 0)
        return error;
    runloop_lock(monitor->loop);
    watch_steps_requeue(&monitor->watches, step->answer);
    runloop_unlock(monitor->loop);
    return 0;
}

static bool is_part_of_extent(const struct shared_answer *shared, const struct extent *extent)
{
    return extent->kind == EXTENT_ROUTE && extent->prefix.length > shared->length;
}

/* Copies the question of another watch that shares the answer. False: there is none. */
static bool copy_other_question(struct monitor *monitor, const struct step *step, struct question *ret)
{
    struct question_memory memory;
    const struct list     *last;
    bool                   exists;

    runloop_lock(monitor->loop);
    last = step->answer->watches.previous;
    exists = step_is_current(step) && last != &step->watch->node;
    if (exists)
        *ret = path_watch_questions(container_of(last, const struct path_watch, node), &memory)->items[0];
    runloop_unlock(monitor->loop);
    return exists;
}

/* No usable route leads to the leader. *ret: whether one leads to another watch. If so, a route that refuses packets
 * leads to the leader alone, and its message was not read yet. Returns 0 or an errno. */
static int is_refused_alone(struct monitor *monitor, const struct step *step, bool *ret)
{
    struct question question;
    struct extent   extent;
    int             error;

    *ret = false;
    if (!copy_other_question(monitor, step, &question))
        return 0;
    error = find_extent(monitor, &question, &extent);
    *ret = error == 0 && extent.kind != EXTENT_REFUSED;
    return error;
}

/* Whether the leader has a route of its own, which does not lead to the others. Returns 0 or an errno. */
static int query_leader(struct monitor *monitor, const struct step *step, const struct shared_answer *shared,
                        struct extent *ret, bool *ret_is_special)
{
    int error = find_extent(monitor, &step->questions->items[0], ret);

    *ret_is_special = false;
    if (error == 0 && ret->kind == EXTENT_REFUSED && !step->must_check)
        error = is_refused_alone(monitor, step, ret_is_special);
    if (error == 0 && is_part_of_extent(shared, ret))
        *ret_is_special = true;
    return error;
}

static int update_shared_answer(struct monitor *monitor, const struct step *step, struct shared_answer *shared)
{
    bool          is_special = false;
    struct extent extent = { .kind = EXTENT_ALONE };
    struct path   path;
    int           error = 0;

    if (monitor_shares(monitor))
        error = query_leader(monitor, step, shared, &extent, &is_special);
    if (error == 0 && is_special)
        return leave_and_requeue(monitor, step);
    if (error == 0)
        error = evaluate_step(monitor, step, &path);
    if (error == 0)
        set_shared_path(monitor, step, shared, &extent, &path);
    return error;
}

/* Gives the path of the shared answer to the watch. Its destination is the leader's: a watch that can share does not
 * report it. */
static void give_shared_path(struct monitor *monitor, const struct step *step, const struct shared_answer *shared)
{
    if (step->watch->type->accept(step->watch, &shared->path, step->path_version))
        return;
    runloop_lock(monitor->loop);
    if (step_is_current(step))
        watch_steps_postpone(&monitor->watches, step->watch);
    runloop_unlock(monitor->loop);
}

/* Whether the route of the shared answer leads to the watch, too. Returns 0 or an errno. */
static int check_route(struct monitor *monitor, const struct step *step, const struct shared_answer *shared, bool *ret)
{
    struct extent extent;
    const int     error = find_extent(monitor, &step->questions->items[0], &extent);

    *ret = error == 0 && extent.kind == EXTENT_ROUTE && extent.prefix.length == shared->match.length;
    return error;
}

static int apply_shared_path(struct monitor *monitor, const struct step *step, const struct shared_answer *shared)
{
    bool has_route = false;
    int  error = 0;

    if (shared->mode == SHARE_CHECK)
        error = check_route(monitor, step, shared, &has_route);
    if (error != 0)
        return error;
    if (!has_route)
        return leave_answer(monitor, step);
    give_shared_path(monitor, step, shared);
    return 0;
}

static void give_path_to_group(struct step_group *group, const struct shared_answer *shared)
{
    for (size_t i = 0; i < group->count; i++)
        group->accepted[i] = group->watches[i]->type->accept(group->watches[i], &shared->path, group->path_versions[i]);
}

/* ---- One answer ------------------------------------------------------------------------------------------------- */

/* Whether a path shows that the watch can have the same as the others in the extent. */
static bool path_can_be_shared(const struct extent *extent, const struct path *path)
{
    return extent->kind == EXTENT_ROUTE && extent_has_path(extent, path) && !path->wireguard;
}

static bool join_answer(struct monitor *monitor, const struct step *step, const struct extent *extent)
{
    bool joined;

    runloop_lock(monitor->loop);
    joined = step_is_current(step) && step->watch->can_share &&
             watch_steps_join(&monitor->watches, step->watch, extent);
    runloop_unlock(monitor->loop);
    return joined;
}

/* Returns an answer that the watch has and others can share. NULL: it keeps its own. */
static struct shared_answer *create_shared_answer(struct monitor *monitor, struct step *step,
                                                  const struct extent *extent)
{
    struct shared_answer *shared = NULL;

    runloop_lock(monitor->loop);
    if (step_is_current(step) && step->watch->can_share)
        shared = watch_steps_create(&monitor->watches, step->watch, extent);
    if (shared != NULL)
        step->answer = &shared->answer;
    runloop_unlock(monitor->loop);
    return shared;
}

/* Evaluates the answer of one watch, unless there is an answer that it can share. After an exception, its own path
 * decides. */
static int update_own_answer(struct monitor *monitor, struct step *step)
{
    struct shared_answer *shared = NULL;
    struct extent         extent = { .kind = EXTENT_ALONE };
    struct path           path;
    int                   error = 0;

    if (step->can_share && monitor_shares(monitor))
        error = find_extent(monitor, &step->questions->items[0], &extent);
    if (error == 0 && extent.kind == EXTENT_ROUTE && !step->answer->is_exception && join_answer(monitor, step, &extent))
        return 0;
    if (error == 0)
        error = evaluate_step(monitor, step, &path);
    if (error != 0)
        return error;
    step->answer->is_exception = extent.kind == EXTENT_ROUTE && !extent_has_path(&extent, &path);
    if (path_can_be_shared(&extent, &path)) {
        if (join_answer(monitor, step, &extent))
            return 0;
        shared = create_shared_answer(monitor, step, &extent);
    }
    if (shared != NULL)
        set_shared_path(monitor, step, shared, &extent, &path);
    else
        give_own_path(monitor, step, &extent, &path);
    return 0;
}

int answer_update(struct monitor *monitor, struct step *step)
{
    struct shared_answer *shared = answer_shared(step->answer);

    if (step->group.count > 0) {
        give_path_to_group(&step->group, shared);
        return 0;
    }
    if (step->applies)
        return apply_shared_path(monitor, step, shared);
    return shared != NULL ? update_shared_answer(monitor, step, shared) : update_own_answer(monitor, step);
}
