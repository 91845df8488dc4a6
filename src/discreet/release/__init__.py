"""The trusted core: the only package that turns personal data into something public.

Reading order for a review:

    aggregators/    clip each person's data to bounded integers, add them up, state the sensitivity
    noise           exact integer noise, with its price
    selection       the exponential mechanism on integer scores, with its price
    sampled_path    greedy paths among people who are sampled by a secret coin, with their price
    sums/           continual sums: mechanisms that release noisy prefixes of a stream
    door            accepts aggregates only, and takes the charge before it draws
    kernels         the compiled loops; passes and products fuse computing, clipping and adding
"""
